package proxy_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

var reloads = regexp.MustCompile(`<meta http-equiv="refresh" content="\d+; url=([^"]*)">`)

func TestThePageIsLoadedAgainAtItsOwnAddress(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	for target, want := range map[string]string{
		"/":                           "/",
		"/cart;v=1/a,b?x='1'&y=(2)":   "/cart;v=1/a,b?x='1'&y=(2)",
		"/a%20b?q=%22%C3%A9":          "/a%20b?q=%22%C3%A9",
		"/?":                          "/?",
		"//evil.example/x":            "/.//evil.example/x",
		`/\evil.example`:              "/%5Cevil.example",
		"/a?b=\"><script>":            "/a?b=%22%3E%3Cscript%3E",
		"/caf\xc3\xa9?\xff":           "/caf%C3%A9?%FF",
		"http://shop.test/cart?x=1":   "/cart?x=1",
		"http://shop.test":            "/",
		"http://shop.test?x":          "/?x",
		"http://shop.test//evil.test": "/.//evil.test",
		"/?next=http://evil.test#x":   "/?next=http://evil.test%23x",
	} {
		r := request(http.MethodGet, target, "Accept: text/html", "")
		require.NotNil(t, r, target)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		found := reloads.FindStringSubmatch(w.Body.String())
		require.Len(t, found, 2, target)
		assert.Equal(t, want, html.UnescapeString(found[1]), target)
		w, r = httptest.NewRecorder(), request(http.MethodGet, target, "Accept: application/json", "")
		f.ServeHTTP(w, r)
		_, address, _ := strings.Cut(w.Header().Get("Refresh"), "; url=")
		assert.Equal(t, want, address, target)
	}
}

func TestAVeryLongAddressIsInThePageAndNotInTheHeader(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	for _, length := range []int{2000, 9000} {
		target := "/?" + strings.Repeat("&", length)
		a := f.Visitor().Get(target)
		found := reloads.FindStringSubmatch(a.Body)
		require.Len(t, found, 2)
		assert.Equal(t, target, html.UnescapeString(found[1]))
		assert.Equal(t, length < 2048, strings.Contains(f.Visitor().Get(target, gatetest.AsJSON).Header.Get("Refresh"), target))
	}
}

// FuzzRefresh asks a full room for addresses that strangers may send: what is loaded again is
// the same host's, and the same path and query.
func FuzzRefresh(f *testing.F) {
	g := gatetest.Start(f)
	g.Full()
	for _, seed := range []string{"/", "//evil.example", `/\evil.example`, "/a;b,c?d='e'&\"", "http://x/y?z", "/..//evil", "/%00%0d%0a", "*", "/.//x", "///", "?x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		r := request(http.MethodGet, target, "Accept: application/json", "")
		if r == nil {
			return // net/http answers it itself
		}
		asked := *r.URL
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		seconds, address, found := strings.Cut(w.Header().Get("Refresh"), "; url=")
		require.Regexp(t, `^\d*$`, seconds)
		if !found {
			return
		}
		require.Regexp(t, `^/([-._~%?:@!$&'()*+,;=\[\]|0-9A-Za-z][-._~%/?:@!$&'()*+,;=\[\]|0-9A-Za-z]*)?$`, address, "a browser reads it as it is")
		base := &url.URL{Scheme: "http", Host: "shop.test", Path: "/"}
		to, err := url.Parse(address)
		if err != nil {
			return // a percent sign that stands for itself, which browsers send back as it is
		}
		to = base.ResolveReference(to)
		require.Equal(t, "shop.test", to.Host)
		want := base.ResolveReference(&url.URL{Path: "/." + strings.TrimPrefix(asked.Path, "*"), RawQuery: asked.RawQuery})
		if strings.HasPrefix(asked.Path, "/") && !strings.Contains(asked.Path, "/.") {
			require.Equal(t, want.Path, to.Path)
			require.Equal(t, strings.Count(asked.RawQuery, "&"), strings.Count(to.RawQuery, "&"))
		}
	})
}

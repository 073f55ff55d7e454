package origin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// pool is the buffer pool of the bare proxy that Origin is compared with.
type pool struct{ sync.Pool }

func (p *pool) Get() []byte {
	if b, ok := p.Pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, 32<<10)
}

func (p *pool) Put(b []byte) { p.Pool.Put(&b) }

// BenchmarkOrigin compares a request through an Origin with one through a bare ReverseProxy with
// the same tuning, over real connections, with the headers of a browser and an answer of 1 KiB.
func BenchmarkOrigin(b *testing.B) {
	page := make([]byte, 1<<10)
	back := site(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(page)
	})
	u, err := url.Parse(back.URL)
	require.NoError(b, err)
	bare := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(u)
			pr.Out.Host = pr.In.Host
			pr.SetXForwarded()
		},
		Transport:  &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true},
		BufferPool: new(pool),
	}
	for _, c := range []struct {
		name    string
		handler http.Handler
	}{{"bare", bare}, {"origin", newOrigin(b, back.URL)}} {
		b.Run(c.name, func(b *testing.B) {
			srv := httptest.NewServer(c.handler)
			defer srv.Close()
			client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer client.CloseIdleConnections()
			b.ReportAllocs()
			for b.Loop() {
				resp, err := client.Do(browser(b, srv.URL+"/shop/item?id=1"))
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}

// BenchmarkForward is what the headers of one request cost.
func BenchmarkForward(b *testing.B) {
	in := browser(b, "http://shop.test/")
	in.RemoteAddr, in.Host = "203.0.113.7:12345", "shop.test"
	out := in.Header.Clone()
	var trust origin.Trust
	b.ReportAllocs()
	for b.Loop() {
		trust.Forward(out, in)
	}
}

// browser is a request as a browser makes it.
func browser(b *testing.B, target string) *http.Request {
	req, err := http.NewRequest(http.MethodGet, target, nil)
	require.NoError(b, err)
	for name, value := range map[string]string{
		"User-Agent":                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
		"Accept":                    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
		"Accept-Encoding":           "gzip, deflate, br, zstd",
		"Accept-Language":           "en-GB,en;q=0.9,de;q=0.8",
		"Cache-Control":             "max-age=0",
		"Connection":                "keep-alive",
		"Cookie":                    "session=0123456789abcdef0123456789abcdef; theme=dark",
		"Sec-Fetch-Dest":            "document",
		"Sec-Fetch-Mode":            "navigate",
		"Sec-Fetch-Site":            "none",
		"Sec-Fetch-User":            "?1",
		"Sec-Ch-Ua":                 `"Chromium";v="142", "Not_A Brand";v="99"`,
		"Sec-Ch-Ua-Mobile":          "?0",
		"Sec-Ch-Ua-Platform":        `"Linux"`,
		"Upgrade-Insecure-Requests": "1",
	} {
		req.Header.Set(name, value)
	}
	return req
}

package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestThePageOfTheRules(t *testing.T) {
	t.Parallel()
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.Room(func(r *proxy.RoomConfig) {
		r.Identity = templates.Identity{SiteName: "Nordlys Festival", Accent: "#1fd3a5", HelpURL: "https://nordlys.example/help"}
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept-Language", r.URL.Query().Get("lang"))
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	tab := browser.Visitor(t)
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchPolicy})
	for _, l := range []struct {
		lang   string
		scheme browsertest.Scheme
		width  int64
	}{
		{"en-US", browsertest.Light, 1280}, {"de-DE", browsertest.Dark, 390}, {"ar-EG", browsertest.Light, 390}, {"el-GR", browsertest.Light, 320}, {"ja-JP", browsertest.Dark, 1280},
	} {
		tab.Look(l.scheme, l.width, 844)
		tab.Open(server.URL + "/.fairdoor/why?room=shop&lang=" + l.lang)
		name := strings.Join([]string{"why", l.lang, string(l.scheme)}, "-")
		assert.Equal(t, l.width, browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "%s: nothing is cut off", name)
		tab.RequireAccessible()
		tab.Screenshot(name)
		assert.Empty(t, browsertest.Eval[[]string](tab, `forbidden`), "%s: what the page does is what its policy allows", name)
	}
}

package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// watchErrors has the page gather what its scripts fail with.
const watchErrors = `window.failed = []; addEventListener('error', e => failed.push(e.message));`

// madeForCloudflare is a page as Cloudflare's starter templates are made.
func madeForCloudflare(t *testing.T, name string) *templates.Page {
	t.Helper()
	source, err := os.ReadFile("../../templates/testdata/cloudflare/" + name)
	require.NoError(t, err)
	made, err := templates.Parse(source)
	require.NoError(t, err)
	return made
}

func TestAPageThatWasMadeForCloudflareWorksOnAPhone(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second, func(c *proxy.RoomConfig) { c.Page = madeForCloudflare(t, "languages.html") })
	inFirst := room.person()
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 390, 844)
	tab.Open(room.url + "/de/tickets")
	assert.Contains(t, tab.Text(), "Das Foyer ist voll")
	assert.Contains(t, tab.Text(), "es geht von selbst weiter")
	tab.Screenshot("cloudflare-room-phone")
	inFirst.leave()
	tab.Until(inside)
}

func TestScriptsOfPagesThatWereMadeForCloudflareRun(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, state, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		i := slices.IndexFunc(templates.States(), func(s templates.State) bool { return s.Name == state })
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		set, err := templates.NewSet(templates.Options{Custom: madeForCloudflare(t, file)})
		assert.NoError(t, err)
		data := templates.States()[i].Data
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(set.Page("en-US", data).AppendTo(nil, templates.Visitor{LastUpdated: time.Now(), RefreshSeconds: 20, Place: data.Place}))
	}))
	t.Cleanup(server.Close)
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 390, 844)
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchErrors})
	for _, state := range []string{"fifo, hours", "fifo, wait unknown", "random", "queue all", "reject", "prequeue", "prequeue, hours", "event"} {
		for _, file := range []string{"languages.html", "wait-time.html"} {
			tab.Open(server.URL + "/" + file + "/" + url.PathEscape(state))
			assert.Empty(t, browsertest.Eval[[]string](tab, `failed`), "%s, %s", file, state)
			assert.Zero(t, browsertest.Eval[int](tab, `[...document.querySelectorAll('h1, h2')].filter(e => !e.innerText.trim()).length`), "%s, %s: every heading has a text", file, state)
			assert.Equal(t, 390, browsertest.Eval[int](tab, `document.documentElement.scrollWidth`), "%s, %s", file, state)
		}
	}
}

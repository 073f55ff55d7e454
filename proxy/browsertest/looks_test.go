package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/proxy/browsertest"
	"github.com/anteroom-gate/anteroom/templates"
)

// preview serves the built-in page in every state and language, as the gate
// does: /fifo?lang=de-DE.
func preview(t *testing.T) *httptest.Server {
	t.Helper()
	set, err := templates.NewSet(templates.Options{})
	require.NoError(t, err)
	states := map[string]templates.Data{}
	for _, s := range templates.States() {
		states["/"+s.Name] = s.Data
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := states[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		answer := set.JSON(data)
		w.Header().Set("Content-Type", "application/json")
		if !templates.WantsJSON(r.Header.Get("Accept"), false) {
			answer = set.Page(set.Match(r.URL.Query().Get("lang")), data)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", set.ContentSecurityPolicy())
		}
		_, _ = w.Write(answer.AppendTo(nil, templates.Visitor{
			LastUpdated: time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC), RefreshSeconds: 1, Place: data.Place,
		}))
	}))
	t.Cleanup(server.Close)
	return server
}

// watchPolicy has the page gather what its Content-Security-Policy forbids.
const watchPolicy = `window.forbidden = [];
addEventListener('securitypolicyviolation', e => forbidden.push(e.violatedDirective + ' ' + e.blockedURI));`

func TestThePageInEveryState(t *testing.T) {
	t.Parallel()
	server := preview(t)
	tab := browser.Visitor(t)
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchPolicy})
	type look struct {
		state, lang   string
		scheme        browsertest.Scheme
		width, height int64
	}
	var looks []look
	for _, state := range []string{"fifo", "random", "line", "fifo, wait unknown", "reject"} {
		looks = append(looks,
			look{state, "en-US", browsertest.Light, 1280, 800}, look{state, "en-US", browsertest.Dark, 1280, 800},
			look{state, "en-US", browsertest.Light, 320, 640}, look{state, "en-US", browsertest.Dark, 390, 844})
	}
	looks = append(looks,
		look{"fifo", "ar-EG", browsertest.Light, 1280, 800}, look{"random", "he-IL", browsertest.Dark, 390, 844},
		look{"fifo, hours", "de-DE", browsertest.Light, 320, 640}, look{"random, longer than told", "fi-FI", browsertest.Light, 320, 640},
		look{"queue all", "ja-JP", browsertest.Light, 390, 844}, look{"line, hours", "ja-JP", browsertest.Dark, 390, 844},
		look{"line", "fa-IR", browsertest.Light, 390, 844}, look{"line, longer than told", "ms-MY", browsertest.Light, 320, 640}, look{"fifo, full", "uk-UA", browsertest.Light, 320, 640})
	for _, l := range looks {
		tab.Look(l.scheme, l.width, l.height)
		tab.Open(server.URL + "/" + url.PathEscape(l.state) + "?lang=" + l.lang)
		name := strings.NewReplacer(", ", "-", " ", "-").Replace(l.state) + "-" + l.lang + "-" + string(l.scheme)
		if l.width < 600 {
			name += "-phone"
		}
		assert.Equal(t, l.width, browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "%s: nothing is cut off", name)
		if strings.HasPrefix(l.lang, "ar") || strings.HasPrefix(l.lang, "he") {
			assert.Equal(t, "rtl", browsertest.Eval[string](tab, `getComputedStyle(document.body).direction`))
		}
		tab.RequireAccessible()
		tab.Screenshot("page-" + name)
		assert.Empty(t, browsertest.Eval[[]string](tab, `forbidden`), "%s: what the page does is what its policy allows", name)
	}
}

func TestTheScriptTellsTheWaitInTheWordsOfThePage(t *testing.T) {
	t.Parallel()
	server := preview(t)
	tab := browser.Visitor(t)
	for state, lang := range map[string]string{
		"fifo": "en-US", "fifo, next in line": "tr-TR", "fifo, hours": "fa-IR", "fifo, whole hours": "ja-JP",
		"fifo, longer than told": "el-GR", "random": "zh-CN",
	} {
		tab.Open(server.URL + "/" + url.PathEscape(state) + "?lang=" + lang)
		page := browsertest.Eval[string](tab, `{
			const wait = document.getElementById('wait'), said = wait.textContent;
			wait.textContent = '';
			said;
		}`)
		tab.Until(`document.getElementById('wait').textContent !== ''`)
		assert.Equal(t, page, browsertest.Eval[string](tab, `document.getElementById('wait').textContent`), state)
	}
}

func TestTheErrorPages(t *testing.T) {
	t.Parallel()
	problems, err := templates.NewProblems()
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", problems.ContentSecurityPolicy())
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write(problems.Page(http.StatusBadGateway, r.URL.Query().Get("lang")))
	}))
	defer server.Close()
	tab := browser.Visitor(t)
	for _, lang := range []string{"en-US", "fa-IR"} {
		for _, scheme := range []browsertest.Scheme{browsertest.Light, browsertest.Dark} {
			tab.Look(scheme, 390, 844)
			tab.Open(server.URL + "/?lang=" + lang)
			tab.RequireAccessible()
			tab.Screenshot("error-502-" + lang + "-" + string(scheme))
		}
	}
}

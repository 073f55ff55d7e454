package browsertest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

// preview serves the built-in page in every state and language, as the gate
// does: /fifo?lang=de-DE.
func preview(t *testing.T) *httptest.Server {
	t.Helper()
	states := map[string]templates.Data{}
	for _, s := range templates.States() {
		states["/"+s.Name] = s.Data
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := states[r.URL.Path]
		if picture, found := map[string]string{"/logo.svg": logo, "/hero.svg": hero}[r.URL.Path]; found {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = io.WriteString(w, picture)
			return
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		data.Identity.Logo, data.Identity.Hero = r.URL.Query().Get("logo"), r.URL.Query().Get("hero")
		if card := r.URL.Query().Get("card"); card != "" {
			data.Identity.Background, data.Identity.Card, data.Identity.Accent, data.Identity.Font = "#0b1f3a", card, "#0a7d55", "Georgia, serif"
		}
		set, err := templates.NewSet(templates.Options{Identity: data.Identity})
		assert.NoError(t, err)
		answer := set.JSON(data)
		w.Header().Set("Content-Type", "application/json")
		if !templates.WantsJSON(r.Header.Get("Accept"), false) {
			answer = set.Page(set.Match(r.URL.Query().Get("lang")), data)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", set.ContentSecurityPolicy())
		}
		_, _ = w.Write(answer.AppendTo(nil, templates.Visitor{
			LastUpdated: time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC), RefreshSeconds: 1, Place: data.Place, Entry: "4F7KQ2M9", SupportCode: templates.SupportCode([]byte("7F3K-Q2M9")),
		}))
	}))
	t.Cleanup(server.Close)
	return server
}

// logo is the picture of a site.
const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="72" viewBox="0 0 240 72"><rect width="72" height="72" rx="16" fill="#5b3fd6"/><path d="M88 16h140v14H88zM88 42h100v14H88z" fill="#8a8a92"/></svg>`

// hero is a wide picture of a site.
const hero = `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="500" viewBox="0 0 1600 500"><defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="#12204a"/><stop offset="1" stop-color="#c65a7c"/></linearGradient></defs><path fill="url(#s)" d="M0 0h1600v500H0z"/><circle cx="1180" cy="240" r="90" fill="#ffd9a0"/><path fill="#1a1230" d="M0 420l220-130 190 110 260-180 240 170 200-90 250 130 240-110v180H0z"/></svg>`

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
			look{state, "en-US", browsertest.Light, 1280, 800},
			look{state, "en-US", browsertest.Light, 320, 640}, look{state, "en-US", browsertest.Dark, 390, 844})
	}
	for _, state := range []string{"fifo, rejoined", "fifo, identity", "not sent", "not sent, reject"} {
		looks = append(looks,
			look{state, "en-US", browsertest.Light, 1280, 800},
			look{state, "de-DE", browsertest.Light, 320, 640}, look{state, "he-IL", browsertest.Dark, 390, 844})
	}
	for _, state := range []string{"prequeue", "prequeue, shuffle", "held", "queue all", "paused", "sold out", "left", "items"} {
		looks = append(looks,
			look{state, "en-US", browsertest.Light, 1280, 800}, look{state, "de-DE", browsertest.Dark, 390, 844},
			look{state, "ar-EG", browsertest.Light, 390, 844}, look{state, "ja-JP", browsertest.Light, 390, 844})
	}
	for _, state := range []string{"items", "sold out", "prequeue", "paused"} { // as a brand has them
		looks = append(looks,
			look{state, "en-US&hero=/hero.svg&logo=/logo.svg&card=%23ffffff", browsertest.Light, 390, 844}, look{state, "en-US&hero=/hero.svg&logo=/logo.svg", browsertest.Dark, 1440, 900})
	}
	looks = append(looks,
		look{"line, hours", "en-US", browsertest.Light, 390, 844}, look{"fifo, longer than told", "de-DE", browsertest.Dark, 390, 844},
		look{"fifo, identity", "en-US&hero=/hero.svg", browsertest.Light, 1440, 900}, look{"fifo, identity", "en-US&hero=/hero.svg&logo=/logo.svg&card=%23ffffff", browsertest.Dark, 768, 1024},
		look{"fifo", "ar-EG&hero=/hero.svg&logo=/logo.svg", browsertest.Dark, 390, 844}, look{"queue all", "de-DE&hero=/hero.svg&card=%2316171a", browsertest.Light, 390, 844},
		look{"fifo, identity", "en-US&logo=/logo.svg", browsertest.Light, 1280, 800}, look{"fifo, identity", "fi-FI&logo=/logo.svg", browsertest.Dark, 390, 844},
		look{"not sent", "ja-JP&logo=/logo.svg", browsertest.Light, 390, 844},
		look{"fifo", "ar-EG", browsertest.Light, 1280, 800}, look{"random", "he-IL", browsertest.Dark, 390, 844},
		look{"fifo, hours", "de-DE", browsertest.Light, 320, 640}, look{"random, longer than told", "fi-FI", browsertest.Light, 320, 640},
		look{"queue all", "ja-JP", browsertest.Light, 390, 844}, look{"line, hours", "ja-JP", browsertest.Dark, 390, 844},
		look{"line", "fa-IR", browsertest.Light, 390, 844}, look{"line, longer than told", "ms-MY", browsertest.Light, 320, 640}, look{"fifo, full", "uk-UA", browsertest.Light, 320, 640})
	for _, l := range looks {
		tab.Look(l.scheme, l.width, l.height)
		tab.Open(server.URL + "/" + url.PathEscape(l.state) + "?lang=" + l.lang)
		name := strings.NewReplacer(", ", "-", " ", "-", "&logo=/logo.svg", "-logo", "&hero=/hero.svg", "-hero", "&card=%23", "-card-").Replace(l.state+"-"+l.lang) + "-" + string(l.scheme)
		if l.width < 600 {
			name += "-phone"
		}
		assert.Equal(t, l.width, browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "%s: nothing is cut off", name)
		if strings.HasPrefix(l.lang, "ar") || strings.HasPrefix(l.lang, "he") {
			assert.Equal(t, "rtl", browsertest.Eval[string](tab, `getComputedStyle(document.body).direction`))
		}
		tab.RequireAccessible()
		tab.Screenshot("page-" + name)
		assert.True(t, !strings.Contains(name, "hero") || browsertest.Eval[bool](tab, onScreen), "%s: the number is on the screen", name)
		assert.True(t, browsertest.Eval[bool](tab, `[...document.images].every(i => i.naturalWidth > 0)`), "%s: the picture is there", name)
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

// onScreen says whether what the visitor came for is to be seen without scrolling.
const onScreen = `['heading', 'wait'].every(id => {
	const at = document.getElementById(id).getBoundingClientRect();
	return at.top >= 0 && at.bottom <= innerHeight;
})`

func TestTheTextComesFirstWhereThereIsLittleSpace(t *testing.T) {
	t.Parallel()
	server := preview(t)
	tab := browser.Visitor(t)
	for name, size := range map[string][2]int64{"400-percent": {320, 256}, "landscape": {740, 360}} {
		for _, state := range []string{"fifo, hours", "fifo, identity", "fifo, rejoined"} {
			for _, lang := range []string{"de-DE", "el-GR", "ar-EG", "ja-JP"} {
				tab.Look(browsertest.Light, size[0], size[1])
				tab.Open(server.URL + "/" + url.PathEscape(state) + "?logo=/logo.svg&lang=" + lang)
				assert.True(t, browsertest.Eval[bool](tab, onScreen), "%s: %s in %s", name, state, lang)
				assert.Equal(t, size[0], browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "%s: %s in %s", name, state, lang)
				if lang == "de-DE" {
					tab.RequireAccessible()
					tab.Screenshot("page-" + name + "-" + strings.NewReplacer(", ", "-").Replace(state))
				}
			}
		}
	}
}

// brokenWords are the words of the headings of a page that are on two lines. The page takes the
// place of the one that the tab shows: that is quicker than to open it.
const brokenWords = `(async () => {
	const page = new DOMParser().parseFromString(await (await fetch(%q)).text(), 'text/html');
	document.documentElement.lang = page.documentElement.lang;
	document.documentElement.dir = page.documentElement.dir;
	document.body.replaceWith(document.adoptNode(page.body));
	const headings = [...document.querySelectorAll('h1, #wait')];
	if (headings.length < 2) return ['no headings'];
	return headings.flatMap(element => {
		const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), broken = [];
		for (let node; node = text.nextNode();)
			for (const {0: word, index} of node.data.matchAll(/[^\s-]+/g)) {
				const range = document.createRange();
				range.setStart(node, index);
				range.setEnd(node, index + word.length);
				if (new Set([...range.getClientRects()].map(r => r.top)).size > 1) broken.push(word);
			}
		return broken;
	});
})()`

func TestHeadingsBreakBetweenWords(t *testing.T) {
	t.Parallel()
	server := preview(t)
	tab := browser.Visitor(t)
	codes, err := templates.LanguageCodes()
	require.NoError(t, err)
	tab.Look(browsertest.Light, 320, 640)
	tab.Open(server.URL + "/fifo")
	for _, code := range codes {
		if slices.Contains([]string{"ja-JP", "zh-CN", "zh-TW", "th-TH"}, code) {
			continue // which have no spaces between words
		}
		for _, state := range []string{"fifo, hours", "random, longer than told", "not sent"} {
			words := browsertest.Eval[[]string](tab, fmt.Sprintf(brokenWords, "/"+url.PathEscape(state)+"?lang="+code))
			assert.Empty(t, words, "%s in %s", state, code)
		}
	}
}

// severalLines are the texts of buttons, and of the support code, that take more than a line.
const severalLines = `[...document.querySelectorAll('button, #small code')].filter(e => e.checkVisibility()).filter(e => {
	const text = document.createRange();
	text.selectNodeContents(e);
	return new Set([...text.getClientRects()].map(r => Math.round(r.top))).size > 1;
}).map(e => e.textContent)`

func TestButtonsAndTheSupportCodeTakeALine(t *testing.T) {
	t.Parallel()
	server := preview(t)
	tab := browser.Visitor(t)
	codes, err := templates.LanguageCodes()
	require.NoError(t, err)
	tab.Look(browsertest.Light, 390, 844)
	for _, code := range codes {
		tab.Open(server.URL + "/fifo?lang=" + code)
		tab.Until(`document.querySelector('#tell:not([hidden])')`)
		browsertest.Eval[bool](tab, `document.querySelector('details').open = true`)
		assert.Empty(t, browsertest.Eval[[]string](tab, severalLines), code)
		// Whatever stands before it, the code has no line's end in it.
		browsertest.Eval[bool](tab, `[...'abcdefghij'].some(() => { document.getElementById('small').prepend('word '); return `+severalLines+`.length; })`)
		assert.Empty(t, browsertest.Eval[[]string](tab, severalLines), code)
	}
}

// touched are the parts of a page that are touched and too low for a finger: 44 px are enough (WCAG 2.5.5).
const touched = `[...document.querySelectorAll('a, button, input, summary')].filter(e => e.checkVisibility() && e.type !== 'hidden')
	.filter(e => e.getBoundingClientRect().height < 43.9).map(e => e.outerHTML + ' ' + e.getBoundingClientRect().height)`

func TestWhatIsTouchedIsHighEnough(t *testing.T) {
	t.Parallel()
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 390, 844)
	check := func(server *httptest.Server, page string) {
		tab.Open(server.URL + "/" + url.PathEscape(page))
		browsertest.Eval[bool](tab, `[...document.querySelectorAll('details')].every(d => d.open = true)`)
		assert.Empty(t, browsertest.Eval[[]string](tab, touched), page)
	}
	server := preview(t)
	for _, s := range templates.States() {
		check(server, s.Name)
	}
	guests := guestPages(t)
	for _, s := range guestpage.Samples() {
		check(guests, s.Name)
	}
}

// shifts adds up how far the parts of a page move by themselves (Layout Instability API), and which.
const shifts = `window.shifted = 0; window.movers = [];
new PerformanceObserver(list => list.getEntries().forEach(e => {
	if (e.hadRecentInput) return;
	shifted += e.value;
	movers.push(...e.sources.map(s => Math.round(performance.now()) + ' ms: ' + (s.node && (s.node.id || s.node.nodeName)) + ' ' + s.previousRect.y + ' → ' + s.currentRect.y));
})).observe({type: 'layout-shift', buffered: true});`

// TestNothingOnThePageMovesInTheFirstSeconds has what people wait for change as it does while a line
// moves: in twelve seconds of a check-in or two, and of news each second.
func TestNothingOnThePageMovesInTheFirstSeconds(t *testing.T) {
	t.Parallel()
	waits := func(method string, minutes, ahead int) templates.Data {
		return templates.Data{
			RoomName: "shop", QueueingMethod: method, WaitTimeKnown: minutes > 0, WaitTime: minutes, UsersAheadKnown: true, UsersAhead: ahead, UsersQueued: 254,
			PlaceKeptSeconds: 1800, Place: templates.Place{Position: ahead + 1, UsersQueued: 254, WaitTimeKnown: minutes > 0, WaitTime: minutes},
		}
	}
	event := waits("fifo", 0, 214)
	event.Event = sale
	for name, states := range map[string][]templates.Data{
		"the wait is told with the first check-in": {waits("fifo", 0, 214), waits("fifo", 12, 212)},
		"the line moves":                    {waits("fifo", 12, 214), waits("fifo", 11, 160), waits("fifo", 9, 99), waits("fifo", 1, 3)},
		"an exact line moves":               {waits("line", 59, 214), waits("line", 57, 160), waits("line", 9, 99)},
		"a wait gets hours, and loses them": {waits("line", 59, 214), waits("line", 60, 215), waits("line", 84, 216), waits("line", 59, 200)},
		"a draw":                            {waits("random", 12, 0), waits("random", 14, 0)},
		"before the start":                  {event, event},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, states[0], 3)
			tab := browser.Visitor(t)
			browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: shifts})
			tab.Look(browsertest.Light, 390, 844)
			tab.Open(s.url)
			s.until(func(_, streams int) bool { return streams > 0 }, "the page listens")
			for i, state := range states[1:] {
				tab.Until(fmt.Sprintf(`performance.now() > %d`, 1000+3000*i))
				s.tell(state)
			}
			tab.Until(`performance.now() > 12000`)
			assert.LessOrEqual(t, browsertest.Eval[float64](tab, `shifted`), 0.02, "%s", browsertest.Eval[[]string](tab, `movers`))
		})
	}
}

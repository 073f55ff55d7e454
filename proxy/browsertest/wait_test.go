package browsertest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// shop is a site of one page, which no room guards, and an API, which one does.
type shop struct {
	*room
	mu    sync.Mutex
	asked []string // of the API: method, path and body
}

func newShop(t *testing.T, change func(*proxy.RoomConfig)) *shop {
	t.Helper()
	s := &shop{}
	s.room = newRoomOf(t, s, func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{Path: "/app"}}}
		r.Settings.RefreshInterval = time.Second
		change(r)
	})
	return s
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/app" {
		_, _ = io.WriteString(w, "<!doctype html><title>Shop</title><script src=/.fairdoor/wait.js></script><h1>Shop</h1>")
		return
	}
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Origin") != "" { // the site's own word on who may read its answers
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Credentials", "true")
	}
	if r.URL.Path == "/api/broken" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = io.WriteString(w, `{"cart": ["lamp"]}`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/api/") {
		s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
	}
}

// answered returns what the API was asked, in alphabetical order.
func (s *shop) answered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.asked))
}

// run runs a script in the page that leaves its outcome in window.got.
func run(tab *browsertest.Tab, script string) {
	tab.Do(chromedp.Evaluate[chromedp.Void](`window.got = undefined; (async () => {` + script + `})().then(v => window.got = v, e => window.got = e.name), undefined`))
}

const (
	waitsInPlace = `window.told && told.inWaitingRoom`
	gotCart      = `window.got && got.cart && got.cart[0] === 'lamp'`
	cart         = `const answer = await fairdoor.fetch('/api/cart', {onUpdate: room => window.told = room}); return answer.json()`
)

func TestAPageWaitsInPlaceAndGoesOn(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(*proxy.RoomConfig) {})
	first := s.person()
	tab := browser.Visitor(t)
	tab.Open(s.url + "/app")
	mark(tab)
	run(tab, cart)
	tab.Until(waitsInPlace)
	tab.Until(`told.usersQueued === 1 && told.position === 1`)
	assert.Empty(t, s.answered())
	first.leave()
	tab.Until(gotCart)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	assert.Equal(t, []string{"GET /api/cart"}, s.answered(), "the site is asked once")

	run(tab, `return (await fairdoor.fetch('/api/broken')).status`)
	tab.Until(`got === 503`)
	assert.Len(t, s.answered(), 2, "whoever is in is told what the site says")
}

func TestAllRequestsOfAPageAreOneVisitorsAndArriveOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(*proxy.RoomConfig) {})
	first := s.person()
	tab := browser.Visitor(t)
	tab.Open(s.url + "/app")
	run(tab, `
		const onUpdate = room => window.told = room, order = {method: 'POST', body: 'a=1', onUpdate};
		const all = ['/api/cart', '/api/me', '/api/offers'].map(path => fairdoor.fetch(path, {onUpdate}));
		const answers = await Promise.all([fairdoor.fetch('/api/order', order), ...all]);
		return answers.map(a => a.status).join()`)
	tab.Until(waitsInPlace)
	s.until(func() bool { return s.queued() > 0 }, "the visitor is counted")
	s.until(func() bool { return s.count() > 6 }, "a few check-ins")
	assert.Equal(t, 1, s.queued())
	assert.Empty(t, s.answered(), "nothing was sent on")
	first.leave()
	tab.Until(`got === '200,200,200,200'`)
	for _, want := range []string{"GET /api/cart", "GET /api/me", "GET /api/offers", "POST /api/order a=1"} {
		assert.Equal(t, 1, count(s.answered(), want), want)
	}
}

func count(list []string, what string) (n int) {
	for _, one := range list {
		if one == what {
			n++
		}
	}
	return n
}

func TestAPageThatWaitsOutlastsALostNetwork(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(*proxy.RoomConfig) {})
	first := s.person()
	tab := browser.Visitor(t)
	tab.Open(s.url + "/app")
	run(tab, cart)
	tab.Until(waitsInPlace)
	s.down.Store(true)
	gone := time.NewTimer(3 * time.Second)
	<-gone.C
	assert.Equal(t, "undefined", browsertest.Eval[string](tab, `typeof window.got`))
	run(tab, `await fairdoor.fetch('http://127.0.0.1:1/')`)
	tab.Until(`got === 'TypeError'`) // whoever does not wait yet is told, as by fetch
	s.down.Store(false)
	first.leave()
	s.until(func() bool { return count(s.answered(), "GET /api/cart") == 1 }, "it has gone on")
}

func TestWaitingEndsWhenItIsAborted(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(*proxy.RoomConfig) {})
	first := s.person()
	tab := browser.Visitor(t)
	tab.Open(s.url + "/app")
	run(tab, `window.stop = new AbortController();
		await fairdoor.fetch('/api/cart', {signal: stop.signal, onUpdate: room => window.told = room})`)
	tab.Until(waitsInPlace)
	other := `window.other = undefined; fairdoor.fetch('/api/me').then(a => window.other = a.status), undefined`
	tab.Do(chromedp.Evaluate[chromedp.Void](other))
	tab.Do(chromedp.Evaluate[chromedp.Void](`stop.abort(), undefined`))
	tab.Until(`got === 'AbortError'`)
	from := s.count()
	s.until(func() bool { return s.count() > from+1 }, "another request of the page goes on")
	first.leave()
	tab.Until(`window.other === 200`)
	assert.Equal(t, []string{"GET /api/me"}, s.answered(), "and the aborted one never comes")
}

func TestWhereNobodyIsTakenThePageIsTold(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(r *proxy.RoomConfig) { r.Settings.Method = queue.Reject })
	tab := browser.Visitor(t)
	tab.Open(s.url + "/app")
	run(tab, cart)
	tab.Until(`got === 'RejectedError'`)
}

func TestAPageOfAnotherSiteWaitsInPlace(t *testing.T) {
	t.Parallel()
	var script string
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<!doctype html><title>App</title><script src="`+script+`"></script><h1>App</h1>`)
	}))
	t.Cleanup(page.Close)
	// Two ports of one host are one site to cookies, and two origins to scripts.
	local := func(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }
	s := newShop(t, func(r *proxy.RoomConfig) { r.CORSOrigins = []string{local(page.URL)} })
	script = local(s.url) + "/.fairdoor/wait.js"
	first := s.person()
	tab := browser.Visitor(t)
	tab.Open(local(page.URL))
	run(tab, strings.Replace(cart, `'/api/cart', {`, `'`+local(s.url)+`/api/cart', {credentials: 'include', `, 1))
	tab.Until(waitsInPlace)
	s.until(func() bool { return s.queued() == 1 }, "the visitor is counted")
	first.leave()
	tab.Until(gotCart)
	require.Equal(t, []string{"GET /api/cart"}, s.answered())

	tab.Open(page.URL) // 127.0.0.1 is not listed
	run(tab, strings.Replace(cart, `'/api/cart', {`, `'`+local(s.url)+`/api/cart', {credentials: 'include', `, 1))
	tab.Until(`got === 'TypeError'`)
}

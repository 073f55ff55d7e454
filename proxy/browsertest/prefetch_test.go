package browsertest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// window is a gate with a room for one visitor at /shop, in front of a site. The pages of the
// site have the browser prefetch others.
type window struct {
	t     *testing.T
	url   string
	admin string

	mu       sync.Mutex
	answered map[string]int // the status of the last answer to a prefetch, by path
	served   []string       // what the site was asked for
}

// prefetching is a page with a link to the path, which the browser prefetches.
func prefetching(how, path string) string {
	page := `<!doctype html><title>Window</title><a href="` + path + `">in</a>`
	switch how {
	case "link":
		return page + `<link rel="prefetch" href="` + path + `">`
	case "rules":
		return page + `<script type="speculationrules">{"prefetch": [{"urls": ["` + path + `"], "eagerness": "immediate"}]}</script>`
	}
	return page
}

func newWindow(t *testing.T) *window {
	t.Helper()
	w := &window{t: t, answered: map[string]int{}}
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.served = append(w.served, r.URL.Path)
		w.mu.Unlock()
		rw.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/shop" || r.URL.Path == "/shop/next" {
			_, _ = io.WriteString(rw, "<!doctype html><title>Shop</title><h1>Welcome</h1>"+prefetching(r.FormValue("how"), "/shop/next"))
			return
		}
		_, _ = io.WriteString(rw, prefetching(r.FormValue("how"), "/shop"))
	}))
	t.Cleanup(site.Close)
	origin, err := url.Parse(site.URL)
	require.NoError(t, err)
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	gate, err := proxy.New(t.Context(), proxy.Config{
		Keys: []cookie.Key{key}, Origin: origin,
		Rooms: []proxy.RoomConfig{{
			Name: "shop", Routes: []route.Route{{Path: "/shop"}}, Origin: origin, Basics: config.Basics{JSON: true},
			Settings: queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1000, SessionDuration: time.Hour, RefreshInterval: time.Second},
		}},
	}, proxy.Options{Store: memstore.New()})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		purpose := q.Header.Get("Sec-Purpose")
		if !strings.HasPrefix(purpose, "prefetch") {
			gate.ServeHTTP(rw, q)
			return
		}
		kept := httptest.NewRecorder()
		gate.ServeHTTP(kept, q)
		if kept.Code == http.StatusServiceUnavailable {
			assert.Empty(t, kept.Header()["Set-Cookie"])
			assert.Equal(t, "no-store", kept.Header().Get("Cache-Control"))
		}
		w.mu.Lock()
		w.answered[q.URL.Path] = kept.Code
		w.mu.Unlock()
		for name, values := range kept.Header() {
			rw.Header()[name] = values
		}
		rw.WriteHeader(kept.Code)
		_, _ = rw.Write(kept.Body.Bytes())
	}))
	t.Cleanup(front.Close)
	admin := httptest.NewServer(gate.Admin())
	t.Cleanup(admin.Close)
	w.url, w.admin = front.URL, admin.URL
	return w
}

// prefetched waits for the answer to the prefetch of a path, and returns its status.
func (w *window) prefetched(path string) (status int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		status = w.answered[path]
		return status != 0
	}, 30*time.Second, 10*time.Millisecond, "the browser prefetches nothing")
	return status
}

// asked is how often the site was asked for a path.
func (w *window) asked(path string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, served := range w.served {
		if served == path {
			n++
		}
	}
	return n
}

func (w *window) queued() int { return (&room{t: w.t, admin: w.admin}).queued() }

// clickIn follows the link of the page.
func clickIn(tab *browsertest.Tab) { browsertest.Eval[any](tab, `document.querySelector("a").click()`) }

func TestAPrefetchedPageIsLoadedWhenItIsWanted(t *testing.T) {
	for _, how := range []string{"link", "rules"} {
		t.Run(how, func(t *testing.T) {
			w := newWindow(t)
			first, second := browser.Visitor(t), browser.Visitor(t)
			for _, tab := range []*browsertest.Tab{first, second} {
				tab.Open(w.url + "/?how=" + how)
				assert.Equal(t, http.StatusServiceUnavailable, w.prefetched("/shop"))
			}
			assert.Zero(t, w.asked("/shop"), "nobody has wanted the page yet")

			clickIn(first)
			first.Until(`document.title === "Shop"`)
			clickIn(second)
			second.Until(`document.title !== "Shop" && location.pathname === "/shop" && document.querySelector("main")`)
			assert.Equal(t, 1, w.asked("/shop"), "the first one's prefetch has not taken the slot, nor has the second one's")
			require.Eventually(t, func() bool { return w.queued() == 1 }, 30*time.Second, 10*time.Millisecond, "who waits has asked for the page")
		})
	}
}

func TestWhoIsInMayPrefetch(t *testing.T) {
	for _, how := range []string{"link", "rules"} {
		t.Run(how, func(t *testing.T) {
			w := newWindow(t)
			tab := browser.Visitor(t)
			tab.Open(w.url + "/shop?how=" + how)
			assert.Equal(t, http.StatusOK, w.prefetched("/shop/next"))
			clickIn(tab)
			tab.Until(`location.pathname === "/shop/next" && document.querySelector("h1").textContent === "Welcome"`)
		})
	}
}

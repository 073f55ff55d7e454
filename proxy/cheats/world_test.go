//go:build !race

package cheats_test

import (
	"container/heap"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// world is a room at two gates that share a store, in front of an origin, and those who want to get
// in. Time is virtual. A request comes to any gate: nothing keeps visitors at one.
type world struct {
	t        *testing.T
	settings queue.Settings
	gates    []*proxy.Gate
	admins   []http.Handler
	origin   *origin
	nanos    atomic.Int64 // of the clock
	synced   time.Time    // when the gates last told the store what they saw
	random   *rand.Rand
	next     people

	networks int                  // how many addresses were given out
	begun    map[string]beginning // by the names of people
	stolen   string               // somebody's ticket
}

// beginning is of which kind somebody is, and since when they want to get in.
type beginning struct {
	kind  string
	since time.Time
}

// origin has a log of who it has seen, and when first, by a header that names the sender.
type origin struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

const (
	senderHeader = "X-Sender"
	gates        = 2
	syncInterval = time.Second
	latency      = 20 * time.Millisecond // that an answer and the next request take at most
)

// settings are those of the room, which lets in 17 people a second.
var settings = queue.Settings{
	TotalActiveUsers: 500, NewUsersPerMinute: 1000, SessionDuration: 20 * time.Second, DisableSessionRenewal: true,
	RefreshInterval: 20 * time.Second, RefreshJitter: .15, MaxWaitingPerNetwork: placesOfANetwork,
}

// newWorld makes the gates. They trust the forwarding headers of addresses that nobody here has.
func newWorld(t *testing.T, s queue.Settings) *world {
	t.Helper()
	w := &world{t: t, settings: s, origin: &origin{seen: map[string]time.Time{}}, begun: map[string]beginning{}}
	w.random = rand.New(rand.NewPCG(14, uint64(s.Method)))
	w.synced = time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC)
	w.nanos.Store(w.synced.UnixNano())
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.origin.note(r.Header.Get(senderHeader), w.now())
		_, _ = io.WriteString(rw, "in")
	}))
	t.Cleanup(site.Close)
	at, err := url.Parse(site.URL)
	require.NoError(t, err)
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	c := proxy.Config{Keys: []cookie.Key{key}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Rooms: []proxy.RoomConfig{
		{Name: "shop", Routes: []route.Route{{Path: "/"}}, Origin: at, Basics: config.Basics{JSON: true}, Settings: s},
		{Name: "fair", Routes: []route.Route{{Path: "/fair"}}, Origin: at, Basics: config.Basics{JSON: true}, Settings: queue.Settings{TotalActiveUsers: 1_000_000, NewUsersPerMinute: 1_000_000}},
	}}
	store := memstore.New()
	for range gates {
		g, err := proxy.New(t.Context(), c, proxy.Options{Store: store, Clock: w.now, SyncInterval: time.Hour})
		require.NoError(t, err)
		t.Cleanup(g.Close)
		w.gates, w.admins = append(w.gates, g), append(w.admins, g.Admin())
	}
	return w
}

func (o *origin) note(sender string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.seen[sender]; !known {
		o.seen[sender] = at
	}
}

// hasSeen says whether the origin's log has a sender.
func (o *origin) hasSeen(sender string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, seen := o.seen[sender]
	return seen
}

func (w *world) now() time.Time { return time.Unix(0, w.nanos.Load()).UTC() }

// upTo is a random time below d.
func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.random.Int64N(int64(d))) }

// syncUntil has the gates tell the store every second what they saw: a gate does so when it is
// asked how a room stands.
func (w *world) syncUntil(at time.Time) {
	for ; w.synced.Before(at); w.synced = w.synced.Add(syncInterval) {
		w.nanos.Store(w.synced.UnixNano())
		for _, g := range w.admins {
			rw := httptest.NewRecorder()
			g.ServeHTTP(rw, httptest.NewRequest(http.MethodGet, "http://localhost/api/v1/rooms/shop/status", nil))
			require.Equal(w.t, http.StatusOK, rw.Code)
		}
	}
}

// run has everybody come when they want to, for a time.
func (w *world) run(lasts time.Duration) {
	end := w.now().Add(lasts)
	for w.next[0].comes.Before(end) {
		p := w.next[0]
		w.syncUntil(p.comes)
		w.nanos.Store(p.comes.UnixNano())
		p.come(w)
		heap.Fix(&w.next, 0)
	}
	w.syncUntil(end)
	w.nanos.Store(end.UnixNano())
}

// reply is what a request is answered with.
type reply struct {
	ticket string        // of the cookie that is set; else the one that was sent
	after  time.Duration // when to ask again
	body   string
}

// ask sends a request with a ticket, or none, to any of the gates. A sender is known to the origin
// by a name.
func (w *world) ask(method, target, sender, address, ticket string, header http.Header) reply {
	r := httptest.NewRequest(method, target, nil)
	r.RemoteAddr, r.Header = address+":4711", header.Clone()
	if r.Header == nil {
		r.Header = http.Header{"Accept": {"application/json"}}
	}
	r.Header.Set(senderHeader, sender)
	if ticket != "" {
		r.Header.Set("Cookie", "fairdoor_shop="+ticket)
	}
	rw := httptest.NewRecorder()
	w.gates[w.random.IntN(gates)].ServeHTTP(rw, r)
	seconds, _ := strconv.Atoi(rw.Header().Get("Retry-After"))
	answer := reply{ticket: ticket, after: max(time.Second, time.Duration(seconds)*time.Second), body: rw.Body.String()}
	if set := rw.Header().Get("Set-Cookie"); set != "" {
		_, value, _ := strings.Cut(set, "=")
		answer.ticket, _, _ = strings.Cut(value, ";")
	}
	return answer
}

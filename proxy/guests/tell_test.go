package guests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist/postgrestest"
)

// site is a site that hears of its waitlist, and often fails.
type site struct {
	*httptest.Server

	mu    sync.Mutex
	tries int
	down  bool
	ids   map[int64]string // that events had at each try
	taken []string         // the events that were taken, in their order
	again int              // tries of the event that was taken last
	other int              // tries with another id than before, or without a signature

	beside *httptest.Server // that hears of the same; nil for nobody

	waits atomic.Int64 // of gates, each a second by itself
	ends  atomic.Int64 // how many of them end
}

// wait is how a gate waits for a second.
func (s *site) wait(ready <-chan struct{}, _ time.Duration) {
	number := s.waits.Add(1)
	for first := true; first || number > s.ends.Load(); first = false {
		select {
		case <-ready:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func newSite(t *testing.T) *site {
	s := &site{ids: map[int64]string{}, down: true}
	s.ends.Store(math.MaxInt64)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Type string
			Data struct {
				ID    int64
				Entry struct{ ID int64 }
			}
		}
		err := json.NewDecoder(r.Body).Decode(&sent)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tries++
		id := r.Header.Get("webhook-id")
		if before := s.ids[sent.Data.ID]; err != nil || before != "" && before != id || r.Header.Get("webhook-signature") == "" {
			s.other++
		}
		s.ids[sent.Data.ID] = id
		if s.down || s.tries%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		event := fmt.Sprint(sent.Data.ID, " ", sent.Type, " ", sent.Data.Entry.ID)
		if len(s.taken) > 0 && s.taken[len(s.taken)-1] == event {
			s.again++
			return
		}
		s.taken = append(s.taken, event)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) look(at func() bool) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return at()
	}
}

// gateOf is a gate with the waitlist, which tells the site until it is stopped.
func gateOf(t *testing.T, database string, to *site, kinds ...webhooks.Kind) (list *guests.Waitlist, stop func()) {
	store, err := waitlist.Open(t.Context(), database)
	require.NoError(t, err)
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	hosts, err := outbound.ParseHosts([]string{"http://127.0.0.1"})
	require.NoError(t, err)
	var hooks []webhooks.Hook
	for _, server := range []*httptest.Server{to.Server, to.beside} {
		if server != nil {
			u, err := url.Parse(server.URL)
			require.NoError(t, err)
			hooks = append(hooks, webhooks.Hook{URL: u, Events: kinds, Rooms: []string{"shop"}, Secret: make([]byte, 32)})
		}
	}
	sender := webhooks.New(webhooks.Options{FirstRetry: time.Millisecond, Log: zap.NewNop()})
	sender.Use(hooks, hosts)
	o := guests.Options{
		Clock: time.Now, Log: zap.NewNop(), Counters: countersOf("beta"), Survive: func(string) {},
		Hooks: func() *webhooks.Sender { return sender },
		Wait:  to.wait,
	}
	settings := waitlist.DefaultSettings()
	settings.ConfirmEmail = false
	s, err := guests.NewSetup(guests.Config{Name: "beta", Room: "shop", Settings: settings}, guests.Site{Keys: []cookie.Key{key}}, o)
	require.NoError(t, err)
	list, err = guests.Open(t.Context(), store, s, o)
	require.NoError(t, err)
	for _, receiver := range sender.Receivers(webhooks.OfWaitlist, "shop") { // which are told of what happens from now on
		turn, err := list.Record().TakeTurn(t.Context(), receiver.ID(), 1, time.Now())
		require.NoError(t, err)
		if turn != nil {
			require.NoError(t, list.Record().EndTurn(t.Context(), turn, 0, 0, false, time.Now()))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var telling sync.WaitGroup
	telling.Go(func() { list.Tell(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		telling.Wait()
		sender.Close()
		assert.NoError(t, store.Close())
	})
	t.Cleanup(stop)
	return list, stop
}

// Two gates share a database. The site is down at first and fails often, and one of the gates
// stops.
func TestTheSiteHearsOfItsWaitlistInOrderUnderTheSameIDs(t *testing.T) {
	server, err := postgrestest.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	for name, database := range map[string]string{"SQLite": filepath.Join(t.TempDir(), "waitlists.db"), "PostgreSQL": server.Database(t)} {
		t.Run(name, func(t *testing.T) {
			to := newSite(t)
			first, stop := gateOf(t, database, to, webhooks.Kinds()...)
			second, _ := gateOf(t, database, to, webhooks.Kinds()...)
			// The site is known once it is told of somebody.
			require.Eventually(t, func() bool {
				_, err := first.Record().Join(t.Context(), waitlist.SignUp{UserID: fmt.Sprint("early", time.Now().UnixNano())}, time.Now())
				return assert.NoError(t, err) && to.look(func() bool { return to.tries > 0 })()
			}, 20*time.Second, 10*time.Millisecond)
			for i := range 20 {
				for _, l := range []*guests.Waitlist{first, second} {
					p, err := l.Record().Join(t.Context(), waitlist.SignUp{UserID: fmt.Sprint(l == first, i)}, time.Now())
					require.NoError(t, err)
					if i%4 == 0 {
						require.NoError(t, l.Record().Leave(t.Context(), p.Number, time.Now()))
					}
				}
			}
			require.Eventually(t, to.look(func() bool { to.down = false; return len(to.taken) > 5 }), 20*time.Second, 5*time.Millisecond)
			stop()
			_, last, err := second.Record().Events(t.Context(), 0, 1)
			require.NoError(t, err)
			require.Eventually(t, to.look(func() bool {
				return len(to.taken) > 0 && strings.HasPrefix(to.taken[len(to.taken)-1], fmt.Sprint(last, " "))
			}), 30*time.Second, 5*time.Millisecond)
			to.mu.Lock()
			defer to.mu.Unlock()
			assert.Zero(t, to.other, "tries under another id, or not signed")
			assert.LessOrEqual(t, to.again, 1, "but for the one that was under way as a gate stopped")
			events, _, err := second.Record().Events(t.Context(), 0, 1000)
			require.NoError(t, err)
			var want []string
			distinct := map[string]bool{}
			for _, e := range events {
				want = append(want, fmt.Sprint(e.ID, " waitlist_", e.Kind, " ", e.Entry.Number))
				if id := to.ids[e.ID]; id != "" {
					distinct[id] = true
				}
			}
			require.GreaterOrEqual(t, len(to.taken), 50)
			assert.Equal(t, want[len(want)-len(to.taken):], to.taken, "each once, in order")
			assert.Len(t, distinct, len(to.taken), "each has an id of its own")
		})
	}
}

func TestAWebhookThatDoesNotNameEventsOfWaitlistsHearsOfNobody(t *testing.T) {
	to := newSite(t)
	list, _ := gateOf(t, filepath.Join(t.TempDir(), "waitlists.db"), to)
	named := newSite(t)
	other, _ := gateOf(t, filepath.Join(t.TempDir(), "waitlists.db"), named, webhooks.OfWaitlist+webhooks.Kind(waitlist.EventLeft))
	require.Eventually(t, func() bool {
		for _, l := range []*guests.Waitlist{list, other} {
			p, err := l.Record().Join(t.Context(), waitlist.SignUp{UserID: "ada"}, time.Now())
			if !assert.NoError(t, err) || !assert.NoError(t, l.Record().Leave(t.Context(), p.Number, time.Now())) {
				return true
			}
		}
		return named.look(func() bool { named.down = false; return len(named.taken) > 5 })()
	}, 20*time.Second, 5*time.Millisecond)
	named.mu.Lock()
	defer named.mu.Unlock()
	for _, taken := range named.taken {
		assert.Contains(t, taken, " waitlist_left ")
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	assert.Zero(t, to.tries)
}

func TestAWebhookThatDoesNotAnswerHoldsUpNoOther(t *testing.T) {
	to, asked, stop := newSite(t), make(chan struct{}, 1), make(chan struct{})
	to.down = false
	to.beside = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-stop
	}))
	t.Cleanup(to.beside.Close)
	t.Cleanup(func() { close(stop) })
	list, _ := gateOf(t, filepath.Join(t.TempDir(), "waitlists.db"), to, webhooks.Kinds()...)
	join := func(who string) {
		_, err := list.Record().Join(t.Context(), waitlist.SignUp{UserID: who}, time.Now())
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return to.waits.Load() > 2 }, 20*time.Second, time.Millisecond)
	join("ada")
	select {
	case <-asked:
	case <-time.After(20 * time.Second):
		require.Fail(t, "nobody is told")
	}
	began := time.Now()
	join("ben")
	require.Eventually(t, to.look(func() bool { return len(to.taken) == 2 }), 20*time.Second, time.Millisecond)
	assert.Less(t, time.Since(began), silence)
}

// silence is how long a webhook waits for an answer at least.
const silence = 8 * time.Second

// Thousands of actions that move people up hold up nobody's acceptance.
func TestAWebhookIsToldAtOnceOfWhatComesAfterMuchThatItDoesNotWant(t *testing.T) {
	to := newSite(t)
	to.down = false
	to.ends.Store(0)
	list, _ := gateOf(t, filepath.Join(t.TempDir(), "waitlists.db"), to, webhooks.OfWaitlist+webhooks.Kind(waitlist.EventLeft))
	require.Eventually(t, func() bool { return to.waits.Load() == 1 }, 20*time.Second, time.Millisecond)
	var last waitlist.Place
	for i := range 450 {
		p, err := list.Record().Join(t.Context(), waitlist.SignUp{UserID: fmt.Sprint(i)}, time.Now())
		require.NoError(t, err)
		last = p
	}
	require.NoError(t, list.Record().Leave(t.Context(), last.Number, time.Now()))
	to.ends.Store(1)
	require.Eventually(t, to.look(func() bool { return len(to.taken) == 1 }), 20*time.Second, time.Millisecond, "in one turn of the second")
}

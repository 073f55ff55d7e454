package watch_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/watch"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// hooked is a program that webhooks tell what happens. It drops what it has been told before, as
// receivers should: where no gate hears of another for a while, as when a test's clock jumps,
// several tell.
type hooked struct {
	*httptest.Server
	mu   sync.Mutex
	told []string
	of   []string // the phases of events that deliveries name, each once: gates whose clock jumps see them in different minutes
	ids  map[string]bool

	came           int
	gates, changes []string // that tell; that deliveries name
}

func newHooked(t *testing.T) *hooked {
	h := &hooked{ids: map[string]bool{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var d struct {
			Type string
			Data struct{ Room, Gate, Event, What, From, To, By string }
		}
		_ = json.NewDecoder(q.Body).Decode(&d)
		h.mu.Lock()
		defer h.mu.Unlock()
		id := q.Header.Get("webhook-id")
		h.came++
		if h.ids[id] {
			return
		}
		h.ids[id], h.told = true, append(h.told, d.Type)
		h.gates = append(h.gates, d.Data.Gate)
		if d.Data.What != "" {
			h.changes = append(h.changes, strings.Join([]string{d.Data.Room, d.Data.What, d.Data.From, d.Data.To, d.Data.By}, "|"))
		}
		if phase := d.Type + " " + d.Data.Event; d.Data.Event != "" && !slices.Contains(h.of, phase) {
			h.of = append(h.of, phase)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// all are the types of the deliveries that have come.
func (h *hooked) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.told...)
}

// phases are the deliveries that have come of events.
func (h *hooked) phases() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.of...)
}

// named are the gates that have told, and the changes that were told.
func (h *hooked) named() (gates, changes []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.gates), slices.Clone(h.changes)
}

// deliveries is how many have come, those whose id has come before among them.
func (h *hooked) deliveries() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.came
}

// distinct is how many deliveries have come, without those whose id has come before.
func (h *hooked) distinct() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ids)
}

// telling has the gate tell the program what happens, of some kinds or of all but changes, and sync
// often.
func telling(t *testing.T, h *hooked, kinds ...webhooks.Kind) func(*proxy.Config, *proxy.Options) {
	if len(kinds) == 0 {
		kinds = slices.DeleteFunc(webhooks.Kinds(), func(k webhooks.Kind) bool { return k == webhooks.Changed })
	}
	u, err := url.Parse(strings.Replace(h.URL, "127.0.0.1", "localhost", 1))
	require.NoError(t, err)
	return func(c *proxy.Config, o *proxy.Options) {
		o.SyncInterval = 5 * time.Millisecond
		hosts, err := outbound.ParseHosts([]string{"http://localhost"})
		c.Parts = c.Parts.With(watch.Name, watch.Config{Hooks: []webhooks.Hook{{URL: u, Events: kinds, Secret: []byte(strings.Repeat("s", 32))}}, Hosts: hosts})
		require.NoError(t, err)
	}
}

func TestWebhooksTellWhatHappensToARoomOnceOfTwoGates(t *testing.T) {
	t.Parallel()
	h, store := newHooked(t), memstore.New()
	shared := func(_ *proxy.Config, o *proxy.Options) { o.Store = store }
	a := gatetest.Start(t, shared, gatetest.Room(gatetest.LeftEnabled), gatetest.Settings(gatetest.Closes), telling(t, h))
	b := gatetest.Start(t, shared, func(c *proxy.Config, o *proxy.Options) { *c, o.Clock = a.Config, a.Clock.Now }, telling(t, h))
	gatetest.Leaves(a.Site)
	wants := func(kinds ...string) {
		t.Helper()
		require.Eventually(t, func() bool { return assert.ObjectsAreEqual(kinds, h.all()) }, gatetest.Patience, 5*time.Millisecond, "%v, got %v", kinds, h.all())
	}
	in := a.Visitor()
	require.True(t, in.Get("/").In())
	a.Soon(func() bool { a.Clock.Add(10 * time.Millisecond); return len(h.all()) == 1 })
	wants("limit_reached")
	a.Soon(func() bool { a.Clock.Add(100 * time.Millisecond); return !b.Visitor().Get("/").In() })
	a.Soon(func() bool {
		a.Clock.Add(500 * time.Millisecond)
		in.Get("/")
		b.Visitor().Get("/")
		return len(h.all()) == 2
	})
	wants("limit_reached", "queueing_began")
	require.True(t, in.Get("/?left=0").In())
	wants("limit_reached", "queueing_began", "sold_out")
	require.Equal(t, http.StatusOK, b.Patch(`{"hold_active": "now"}`).Status)
	wants("limit_reached", "queueing_began", "sold_out", "hold_began")
	var statuses []webhooks.Status
	a.API(http.MethodGet, "/api/v1/webhooks", "", &statuses)
	require.Len(t, statuses, 1)
	assert.Empty(t, statuses[0].Failure)
	assert.Equal(t, http.StatusOK, a.API(http.MethodPost, "/api/v1/webhooks/test", "", nil).Status)
	assert.Equal(t, http.StatusNotFound, a.API(http.MethodPost, "/api/v1/webhooks/test?name=nobody", "", nil).Status)
	wants("limit_reached", "queueing_began", "sold_out", "hold_began", "test")
	counted := func(name string) (sum float64) {
		for _, f := range []*gatetest.Fixture{a, b} {
			m := f.Families()["fairdoor_webhook_"+name+" "+statuses[0].Name]
			sum += m.GetCounter().GetValue()
		}
		return sum
	}
	require.Eventually(t, func() bool { return counted("deliveries_total delivered") >= 5 }, gatetest.Patience, 50*time.Millisecond)
	assert.Zero(t, counted("deliveries_total dropped")+counted("failed_tries_total"))
	assert.Contains(t, a.Families(), "fairdoor_webhook_waiting "+statuses[0].Name)
}

func TestWebhooksTellThePhasesOfEventsOfTwoGatesInOrder(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	sale := gatetest.SaleAt(gatetest.Opening.Add(10*time.Minute), 5*time.Minute, true)
	late := event.Event{Name: "late", Start: sale.End, End: sale.End.Add(time.Hour)}
	one, other := gatetest.StartTwo(t, telling(t, h), func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Events = event.List{sale, late} })
	var want []string
	wants := func(phases ...string) {
		t.Helper()
		want = append(want, phases...)
		one.Soon(func() bool { one.Clock.Add(100 * time.Millisecond); return len(h.phases()) >= len(want) })
		require.Equal(t, want, h.phases())
	}
	until := func(at time.Time) { // in steps, in which the gates hear of each other
		for rest := at.Sub(one.Clock.Now()); rest > 0; rest = at.Sub(one.Clock.Now()) {
			one.Clock.Add(min(rest, 5*time.Second))
			one.Status("shop")
			other.Status("shop")
		}
	}
	until(sale.Prequeue)
	wants("event_prequeueing sale")
	until(sale.Start)
	wants("event_started sale")
	until(sale.End)
	wants("event_ended sale", "event_started late")
	require.Equal(t, http.StatusOK, other.Patch(`{"suspended": true}`).Status)
	wants("event_ended late")
	until(one.Clock.Now().Add(time.Minute))
	gatetest.Stands(t, "suspended", one, other)
	one.Clock.Add(time.Minute)
	assert.Equal(t, want, h.phases(), "and no others")
}

func TestWhatHappensTwiceInAMinuteIsToldTwice(t *testing.T) {
	h := newHooked(t)
	g := gatetest.Start(t, gatetest.Settings(gatetest.Closes), telling(t, h))
	for i, change := range []string{`"now"`, `"off"`, `"now"`, `"off"`} {
		require.Equal(t, http.StatusOK, g.Patch(`{"hold_active": `+change+`}`).Status)
		require.Eventually(t, func() bool { return len(h.all()) == i+1 }, gatetest.Patience, 5*time.Millisecond, "%v", h.all())
	}
	assert.Equal(t, []string{"hold_began", "hold_ended", "hold_began", "hold_ended"}, h.all())
	assert.Equal(t, 4, h.distinct(), "receivers drop ids that they know")
}

func TestTheDashboardShowsWebhooksWithTheirFailures(t *testing.T) {
	none, err := watch.Section(nil)
	require.NoError(t, err)
	assert.NotContains(t, none, "Webhooks")
	section, err := watch.Section([]webhooks.Status{
		{Name: "chat", URL: "https://chat.test/hook", Sent: 12, Waiting: 3, Failure: "the answer was 502 <Bad>", At: gatetest.Opening},
		{Name: "pager", URL: "https://pager.test/", Dropped: 1, Gone: true},
	})
	require.NoError(t, err)
	at := gatetest.Opening.UTC().Format("2006-01-02 15:04:05 UTC")
	for _, want := range []string{`<td class="n">12</td><td class="n">3</td><td class="n">0</td>`, at + "</time>: the answer was 502 &lt;Bad&gt;", "It has answered 410"} {
		assert.Contains(t, section, want)
	}
}

func TestTheDocumentHasTheFieldsOfAWebhook(t *testing.T) {
	admintest.HasFields(t, gatetest.Start(t).Admin(), "Webhook", webhooks.Status{})
}

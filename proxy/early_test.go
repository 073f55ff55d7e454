package proxy_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// startTwo starts two gates of one room, with one store and one clock.
func startTwo(t testing.TB, changes ...func(*proxy.Config, *proxy.Options)) (one, other *fixture) {
	t.Helper()
	store := memstore.New()
	one = start(t, append(changes, func(_ *proxy.Config, o *proxy.Options) { o.Store = store })...)
	other = start(t, append(changes, func(c *proxy.Config, o *proxy.Options) {
		o.Store, o.Clock, c.Keys = store, one.clock.Now, one.config.Keys
		c.Rooms[0].Origin = one.site.url(t)
	})...)
	return one, other
}

// atGate is the visitor at another gate.
func (v *visitor) atGate(f *fixture) *visitor {
	there := *v
	there.base = f.public.URL
	return &there
}

// left is what an answer says is left of the interval, in its header.
func (a answer) left(t testing.TB) int {
	t.Helper()
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	require.NoError(t, err, a.body)
	return seconds
}

func TestAnEarlyRequestIsToldWhatIsLeftOfTheInterval(t *testing.T) {
	custom, err := templates.Parse([]byte("<p>{{refreshLeftSeconds}} of {{refreshIntervalSeconds}}"))
	require.NoError(t, err)
	f, other := startTwo(t)
	f.full()
	v := f.visitor()
	first := v.get("/", asJSON)
	whole := first.left(t)
	require.EqualValues(t, whole, first.told("refreshLeftSeconds"))

	for _, at := range []struct {
		passed time.Duration
		left   int
	}{{0, whole}, {5 * time.Second, whole - 5}, {500 * time.Millisecond, whole - 5}, {500 * time.Millisecond, whole - 6}, {time.Duration(whole-7)*time.Second + 990*time.Millisecond, 1}} {
		f.pass(at.passed)
		for name, gate := range map[string]*fixture{"the same gate": f, "another gate": other} {
			at, v := at, v.atGate(gate)
			a := v.get("/", asJSON)
			assert.Equal(t, at.left, a.left(t), name)
			assert.Equal(t, a.header.Get("Retry-After")+"; url=/", a.header.Get("Refresh"), name)
			assert.EqualValues(t, at.left, a.told("refreshLeftSeconds"), name)
			assert.EqualValues(t, whole, a.told("refreshIntervalSeconds"), "the interval stays whole")
			assert.Equal(t, first.told("lastUpdated"), a.told("lastUpdated"), "as it counts from the last check-in")

			page := v.get("/")
			assert.Equal(t, at.left, page.left(t), name)
			assert.Contains(t, page.body, `http-equiv="refresh" content="`+strconv.Itoa(at.left), name)
			assert.Contains(t, page.body, `data-left="`+strconv.Itoa(at.left)+`"`, name)
			assert.Contains(t, v.get("/.fairdoor/session?room=shop").body, `"refreshLeftSeconds": `+strconv.Itoa(at.left)+",", name)
			assert.Equal(t, at.left, v.send(http.MethodPost, "/", strings.NewReader("a=1"), asJSON).left(t), "who sends a form is told the same")
		}
	}
	own := start(t, room(func(r *proxy.RoomConfig) { r.Page = custom }), settings(func(s *queue.Settings) { s.RefreshJitter = 0 }))
	own.full()
	v = own.visitor()
	v.get("/")
	own.pass(7500 * time.Millisecond)
	a := v.get("/")
	assert.Equal(t, "<p>13 of 20", a.body)
	assert.Regexp(t, "^13", a.header.Get("Refresh"))
}

// Where everybody does what they are told, nobody is overtaken by who came later.
func TestOneEarlyReloadCostsNothing(t *testing.T) {
	for _, refresh := range []time.Duration{time.Second, 5 * time.Second, interval} {
		for early := refresh / 10; early < refresh; early += refresh / 5 {
			f, other := startTwo(t, settings(func(s *queue.Settings) {
				s.TotalActiveUsers, s.NewUsersPerMinute, s.SessionDuration = 2, 100_000, 24*time.Hour
				s.RefreshInterval, s.RefreshJitter, s.Bucket = refresh, 0, time.Second
			}), room(revokeEnabled))
			revokes(f.site, "Fairdoor-Command", "revoke")
			in := f.full()
			first, later := f.visitor(), f.visitor()
			due := f.clock.Now().Add(time.Duration(first.get("/").left(t)) * time.Second)
			f.pass(early)
			again := f.clock.Now().Add(time.Duration(first.atGate(other).get("/").left(t)) * time.Second)
			require.Less(t, again.Sub(due), time.Second)
			f.pass(1100*time.Millisecond - min(early, time.Second))
			later.get("/")
			for f.clock.Now().Before(again.Add(300 * time.Millisecond)) { // the browser's timer, and the way
				f.pass(refresh / 40)
				other.status("shop")
				if len(in) == 2 && f.clock.Now().After(due.Add(-refresh/10)) {
					require.True(t, in[0].get("/logout").in())
					in = in[1:]
				}
				require.False(t, later.get("/").in(), "refresh interval %v, asked %v after the first time: the slot is kept for who came first", refresh, early)
			}
			assert.True(t, first.get("/").in(), "refresh interval %v, asked %v after the first time", refresh, early)
		}
	}
}

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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestAnEarlyRequestIsToldWhatIsLeftOfTheInterval(t *testing.T) {
	custom, err := templates.Parse([]byte("<p>{{refreshLeftSeconds}} of {{refreshIntervalSeconds}}"))
	require.NoError(t, err)
	f, other := gatetest.StartTwo(t)
	f.Full()
	v := f.Visitor()
	first := v.Get("/", gatetest.AsJSON)
	whole := first.Left(t)
	require.EqualValues(t, whole, first.Told("refreshLeftSeconds"))

	for _, at := range []struct {
		passed time.Duration
		left   int
	}{{0, whole}, {5 * time.Second, whole - 5}, {500 * time.Millisecond, whole - 5}, {500 * time.Millisecond, whole - 6}, {time.Duration(whole-7)*time.Second + 990*time.Millisecond, 1}} {
		f.Pass(at.passed)
		for name, gate := range map[string]*gatetest.Fixture{"the same gate": f, "another gate": other} {
			at, v := at, v.AtGate(gate)
			a := v.Get("/", gatetest.AsJSON)
			assert.Equal(t, at.left, a.Left(t), name)
			assert.Equal(t, a.Header.Get("Retry-After")+"; url=/", a.Header.Get("Refresh"), name)
			assert.EqualValues(t, at.left, a.Told("refreshLeftSeconds"), name)
			assert.EqualValues(t, whole, a.Told("refreshIntervalSeconds"), "the interval stays whole")
			assert.Equal(t, first.Told("lastUpdated"), a.Told("lastUpdated"), "as it counts from the last check-in")

			page := v.Get("/")
			assert.Equal(t, at.left, page.Left(t), name)
			assert.Contains(t, page.Body, `http-equiv="refresh" content="`+strconv.Itoa(at.left), name)
			assert.Contains(t, page.Body, `data-left="`+strconv.Itoa(at.left)+`"`, name)
			assert.Contains(t, v.Get("/.fairdoor/session?room=shop").Body, `"refreshLeftSeconds": `+strconv.Itoa(at.left)+",", name)
			assert.Equal(t, at.left, v.Send(http.MethodPost, "/", strings.NewReader("a=1"), gatetest.AsJSON).Left(t), "who sends a form is told the same")
		}
	}
	own := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Page = custom }), gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter = 0 }))
	own.Full()
	v = own.Visitor()
	v.Get("/")
	own.Pass(7500 * time.Millisecond)
	a := v.Get("/")
	assert.Equal(t, "<p>13 of 20", a.Body)
	assert.Regexp(t, "^13", a.Header.Get("Refresh"))
}

// Where everybody does what they are told, nobody is overtaken by who came later.
func TestOneEarlyReloadCostsNothing(t *testing.T) {
	for _, refresh := range []time.Duration{time.Second, 5 * time.Second, gatetest.Interval} {
		for early := refresh / 10; early < refresh; early += refresh / 5 {
			f, other := gatetest.StartTwo(t, gatetest.Settings(func(s *queue.Settings) {
				s.TotalActiveUsers, s.NewUsersPerMinute, s.SessionDuration = 2, 100_000, 24*time.Hour
				s.RefreshInterval, s.RefreshJitter, s.Bucket = refresh, 0, time.Second
			}), gatetest.Room(gatetest.RevokeEnabled))
			gatetest.Revokes(f.Site, "Fairdoor-Command", "revoke")
			in := f.Full()
			first, later := f.Visitor(), f.Visitor()
			due := f.Clock.Now().Add(time.Duration(first.Get("/").Left(t)) * time.Second)
			f.Pass(early)
			again := f.Clock.Now().Add(time.Duration(first.AtGate(other).Get("/").Left(t)) * time.Second)
			require.Less(t, again.Sub(due), time.Second)
			f.Pass(1100*time.Millisecond - min(early, time.Second))
			later.Get("/")
			for f.Clock.Now().Before(again.Add(300 * time.Millisecond)) { // the browser's timer, and the way
				f.Pass(refresh / 40)
				other.Status("shop")
				if len(in) == 2 && f.Clock.Now().After(due.Add(-refresh/10)) {
					require.True(t, in[0].Get("/logout").In())
					in = in[1:]
				}
				require.False(t, later.Get("/").In(), "refresh interval %v, asked %v after the first time: the slot is kept for who came first", refresh, early)
			}
			assert.True(t, first.Get("/").In(), "refresh interval %v, asked %v after the first time", refresh, early)
		}
	}
}

package proxy_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// inBoth runs a test in a room of either kind.
func inBoth(t *testing.T, test func(t *testing.T, method func(*proxy.Config, *proxy.Options))) {
	t.Helper()
	t.Run("in an exact line", func(t *testing.T) { test(t, inLine) })
	t.Run("in fifo", func(t *testing.T) { test(t, func(*proxy.Config, *proxy.Options) {}) })
}

// tab opens a page's stream.
func tab(v *gatetest.Visitor) *gatetest.Listener {
	v.Fixture.T.Helper()
	l := v.Listen("?room=shop")
	l.Next("place")
	return l
}

// goodbye is what a page says that is closed.
func goodbye(v *gatetest.Visitor) {
	v.Fixture.T.Helper()
	require.Equal(v.Fixture.T, http.StatusNoContent, v.Send(http.MethodPost, "/.fairdoor/leave", nil).Status)
}

// hangsUp waits until a stream of so many is gone.
func hangsUp(l *gatetest.Listener, f *gatetest.Fixture, left float64) {
	l.T.Helper()
	l.HangUp()
	f.Soon(func() bool { return f.Streams() == left })
}

// keepsWaiting asserts that so many go on waiting, for longer than a goodbye takes.
func keepsWaiting(f *gatetest.Fixture, waiting int) {
	f.T.Helper()
	for range 2 {
		assert.Equal(f.T, waiting, f.Status("shop").Queued)
		f.Clock.Add(queue.LineReturn)
	}
}

func TestGoodbyeOfOneOfTwoTabsCountsForNothing(t *testing.T) {
	inBoth(t, func(t *testing.T, method func(*proxy.Config, *proxy.Options)) {
		f := gatetest.Start(t, method)
		v := f.Waiter()
		first, second, third := tab(v), tab(v), tab(v)
		f.Pass(time.Second)
		hangsUp(first, f, 2)
		goodbye(v)
		keepsWaiting(f, 1)
		goodbye(v) // which may be there before the end of its stream
		assert.Equal(t, 1, f.Status("shop").Queued)
		hangsUp(second, f, 1)
		keepsWaiting(f, 1)
		f.Pass(gatetest.Interval)
		third.Next("place")
		keepsWaiting(f, 1)
	})
}

func TestGoodbyeOfTheLastTabCounts(t *testing.T) {
	for name, leave := range map[string]func(f *gatetest.Fixture, v *gatetest.Visitor, l *gatetest.Listener){
		"once its stream has ended":   func(f *gatetest.Fixture, v *gatetest.Visitor, l *gatetest.Listener) { hangsUp(l, f, 0); goodbye(v) },
		"just before its stream ends": func(f *gatetest.Fixture, v *gatetest.Visitor, l *gatetest.Listener) { goodbye(v); hangsUp(l, f, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, method func(*proxy.Config, *proxy.Options)) {
				f := gatetest.Start(t, method)
				v := f.Waiter()
				other, last := tab(v), tab(v)
				f.Pass(time.Second)
				hangsUp(other, f, 1)
				leave(f, v, last)
				f.Soon(func() bool {
					f.Pass(time.Second)
					return f.Status("shop").Queued == 0
				})
				assert.Less(t, f.Clock.Now(), time.Date(2021, 5, 27, 15, 54, 22, 0, time.UTC), "before a check-in is missed")
			})
		})
	}
}

func TestStreamThatBreaksIsNoGoodbye(t *testing.T) {
	f := gatetest.Start(t, inLine)
	v := f.Waiter()
	l := tab(v)
	goodbye(v) // of another page
	f.Pass(queue.LineReturn + time.Second)
	hangsUp(l, f, 0)
	keepsWaiting(f, 1)
}

// A gate of its own has the goodbye, and another one the stream.
func TestGoodbyeAtAnotherGateCountsForNothingWhileATabIsOpen(t *testing.T) {
	inBoth(t, func(t *testing.T, method func(*proxy.Config, *proxy.Options)) {
		var store queue.Store
		f := gatetest.Start(t, method, func(_ *proxy.Config, o *proxy.Options) { store = o.Store })
		other := gatetest.Start(t, method, func(c *proxy.Config, o *proxy.Options) { c.Keys, o.Store, o.Clock = f.Config.Keys, store, f.Clock.Now })
		v := f.Waiter()
		f.Pass(time.Second)
		away := v.Twin()
		away.Base = other.Public.URL
		l := tab(away)
		f.Pass(time.Second)
		goodbye(v)
		for range 2 { // both gates sync as they do, about once a second
			f.Pass(time.Second)
			other.Status("shop")
		}
		l.Next("place") // the tab has checked in again
		f.Soon(func() bool {
			other.Status("shop")
			return f.Status("shop").Queued == 1
		})
		keepsWaiting(f, 1)
		keepsWaiting(f, 1)
		l.HangUp()
		other.Soon(func() bool { return other.Streams() == 0 })
		goodbye(v)
		f.Soon(func() bool {
			f.Pass(time.Second)
			other.Status("shop")
			return f.Status("shop").Queued == 0
		})
	})
}

package proxy_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// inBoth runs a test in a room of either kind.
func inBoth(t *testing.T, test func(t *testing.T, method func(*proxy.Config, *proxy.Options))) {
	t.Helper()
	t.Run("in an exact line", func(t *testing.T) { test(t, inLine) })
	t.Run("in fifo", func(t *testing.T) { test(t, func(*proxy.Config, *proxy.Options) {}) })
}

// tab opens a page's stream.
func (v *visitor) tab() *listener {
	v.f.t.Helper()
	l := v.listen("?room=shop")
	l.next("place")
	return l
}

// goodbye is what a page says that is closed.
func (v *visitor) goodbye() {
	v.f.t.Helper()
	require.Equal(v.f.t, http.StatusNoContent, v.send(http.MethodPost, "/.fairdoor/leave", nil).status)
}

// goes waits until a stream of so many is gone.
func (l *listener) goes(f *fixture, left float64) {
	l.t.Helper()
	l.hangUp()
	f.soon(func() bool { return f.streams() == left })
}

// keepsWaiting asserts that so many go on waiting, for longer than a goodbye takes.
func (f *fixture) keepsWaiting(waiting int) {
	f.t.Helper()
	for range 2 {
		assert.Equal(f.t, waiting, f.status("shop").Queued)
		f.clock.add(queue.LineReturn)
	}
}

func TestGoodbyeOfOneOfTwoTabsCountsForNothing(t *testing.T) {
	inBoth(t, func(t *testing.T, method func(*proxy.Config, *proxy.Options)) {
		f := start(t, method)
		v := f.waiter()
		first, second, third := v.tab(), v.tab(), v.tab()
		f.pass(time.Second)
		first.goes(f, 2)
		v.goodbye()
		f.keepsWaiting(1)
		v.goodbye() // which may be there before the end of its stream
		assert.Equal(t, 1, f.status("shop").Queued)
		second.goes(f, 1)
		f.keepsWaiting(1)
		f.pass(interval)
		third.next("place")
		f.keepsWaiting(1)
	})
}

func TestGoodbyeOfTheLastTabCounts(t *testing.T) {
	for name, leave := range map[string]func(f *fixture, v *visitor, l *listener){
		"once its stream has ended":   func(f *fixture, v *visitor, l *listener) { l.goes(f, 0); v.goodbye() },
		"just before its stream ends": func(f *fixture, v *visitor, l *listener) { v.goodbye(); l.goes(f, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, method func(*proxy.Config, *proxy.Options)) {
				f := start(t, method)
				v := f.waiter()
				other, last := v.tab(), v.tab()
				f.pass(time.Second)
				other.goes(f, 1)
				leave(f, v, last)
				f.soon(func() bool {
					f.pass(time.Second)
					return f.status("shop").Queued == 0
				})
				assert.Less(t, f.clock.Now(), time.Date(2021, 5, 27, 15, 54, 22, 0, time.UTC), "before a check-in is missed")
			})
		})
	}
}

func TestStreamThatBreaksIsNoGoodbye(t *testing.T) {
	f := start(t, inLine)
	v := f.waiter()
	l := v.tab()
	v.goodbye() // of another page
	f.pass(queue.LineReturn + time.Second)
	l.goes(f, 0)
	f.keepsWaiting(1)
}

// A gate of its own has the goodbye, and another one the stream.
func TestGoodbyeAtAnotherGateCountsForNothingWhileATabIsOpen(t *testing.T) {
	inBoth(t, func(t *testing.T, method func(*proxy.Config, *proxy.Options)) {
		var store queue.Store
		f := start(t, method, func(_ *proxy.Config, o *proxy.Options) { store = o.Store })
		other := start(t, method, func(c *proxy.Config, o *proxy.Options) { c.Keys, o.Store, o.Clock = f.config.Keys, store, f.clock.Now })
		v := f.waiter()
		f.pass(time.Second)
		away := v.twin()
		away.base = other.public.URL
		l := away.tab()
		f.pass(time.Second)
		v.goodbye()
		for range 2 { // both gates sync as they do, about once a second
			f.pass(time.Second)
			other.status("shop")
		}
		l.next("place") // the tab has checked in again
		f.soon(func() bool {
			other.status("shop")
			return f.status("shop").Queued == 1
		})
		f.keepsWaiting(1)
		f.keepsWaiting(1)
		l.hangUp()
		other.soon(func() bool { return other.streams() == 0 })
		v.goodbye()
		f.soon(func() bool {
			f.pass(time.Second)
			other.status("shop")
			return f.status("shop").Queued == 0
		})
	})
}

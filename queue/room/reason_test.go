package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

func TestARoomSaysWhyPeopleWait(t *testing.T) {
	with := func(change func(*queue.Settings)) queue.Settings {
		s := settings(2, 10)
		change(&s)
		return s
	}
	for want, c := range map[estimate.Reason]struct {
		settings queue.Settings
		happens  func(d *door, store *fallible)
	}{
		estimate.NoReason:       {settings(2, 10), func(d *door, _ *fallible) { d.enter() }},
		estimate.LimitReached:   {settings(2, 10), func(d *door, _ *fallible) { d.enter(); d.enter() }},
		estimate.PerMinuteLimit: {settings(2, 1), func(d *door, _ *fallible) { d.enter() }},
		estimate.KeptForPeopleAhead: {settings(2, 10), func(d *door, _ *fallible) {
			in := d.enter()
			d.enter()
			d.pass(2 * time.Second)
			d.join()
			d.room.Revoke(d.now.Time(), in)
		}},
		estimate.QueueAll:      {with(func(s *queue.Settings) { s.QueueAll = true }), func(*door, *fallible) {}},
		estimate.MethodRejects: {with(func(s *queue.Settings) { s.Method = queue.Reject }), func(*door, *fallible) {}},
		estimate.EventHolds: {with(func(s *queue.Settings) {
			s.QueueAll, s.Event = true, queue.ActiveEvent{Name: "sale", Prequeueing: true, HoldsNew: true}
		}), func(*door, *fallible) {}},
		estimate.ActiveHeld: {with(func(s *queue.Settings) { s.QueueAll, s.HoldActive = true, queue.HoldNow }), func(*door, *fallible) {}},
		estimate.SoldOut: {with(func(s *queue.Settings) { s.OnSoldOut = queue.CloseToAll }), func(d *door, _ *fallible) {
			d.room.HearLeft(d.now.Time(), 0, "")
		}},
		estimate.OriginSlow: {with(func(s *queue.Settings) { s.NewUsersPerMinute, s.AdmissionControlLatency = 2, time.Second }), func(d *door, _ *fallible) {
			d.isAnswered(50, 5*time.Second)
			d.pass(pressure.Every)
			d.arrive()
		}},
		estimate.OriginFailing:    {with(func(s *queue.Settings) { s.QueueAll = true }), func(d *door, _ *fallible) { d.room.Pause(true) }},
		estimate.StoreUnreachable: {settings(2, 10), func(d *door, store *fallible) { store.fail(errGone, nil); d.fails(errGone) }},
	} {
		t.Run(string(want), func(t *testing.T) {
			d, store := openFallible(t, c.settings, queue.Hold)
			c.happens(d, store)
			n := d.room.Numbers()
			if want != estimate.StoreUnreachable {
				d.pass(time.Second)
				n = d.stand()
			}
			assert.Equal(t, want, n.Reason())
			assert.Equal(t, want != estimate.NoReason, n.Queueing() || want == estimate.StoreUnreachable, "there is a reason exactly while people have to wait")
			assert.Regexp(t, `^[A-Zqh].*\.$`, want.Sentence())
		})
	}
}

func TestARoomWhereNobodyHasToWaitHasNoReason(t *testing.T) {
	for name, change := range map[string]func(*queue.Settings){
		"passthrough": func(s *queue.Settings) { s.Method = queue.Passthrough },
		"suspended":   func(s *queue.Settings) { s.Suspended = true },
		"open to all": func(s *queue.Settings) { s.QueueWhen = 10 },
	} {
		s := settings(1, 1)
		change(&s)
		d := open(t, s)
		d.pass(queue.CalmTime)
		d.enter()
		d.pass(time.Second)
		assert.Equal(t, estimate.NoReason, d.stand().Reason(), name)
	}
}

func TestWhateverTheMethodARoomThatIsSoldOutSaysSo(t *testing.T) {
	for _, change := range []func(*queue.Settings){
		func(s *queue.Settings) { s.Method = queue.Passthrough },
		func(s *queue.Settings) { s.QueueWhen = 10 },
	} {
		s := settings(1, 1)
		s.OnSoldOut = queue.CloseToAll
		change(&s)
		d := open(t, s)
		d.pass(queue.CalmTime)
		d.room.HearLeft(d.now.Time(), 0, "")
		d.pass(time.Second)
		assert.Equal(t, estimate.SoldOut, d.stand().Reason())
	}
}

func TestNumbersHaveAnAge(t *testing.T) {
	d := open(t, settings(1, 1))
	d.pass(time.Second)
	n := d.room.Numbers()
	assert.Zero(t, d.room.Age(d.now.Time(), n))
	assert.Equal(t, 3*time.Second, d.room.Age(d.now.Add(3*time.Second).Time(), n))
	assert.Equal(t, 1, n.Nodes)
}

package memstore

import "github.com/fairdoor-gate/fairdoor/queue"

// trafficSlice is how long newcomers are counted together.
const trafficSlice = queue.AllowancePeriod / queue.TrafficSlices

// traffic is how many come to a room that counts only from QueueWhen on. redisstore's traffic.lua
// does the same.
type traffic struct {
	open   bool          // nobody is counted
	busy   queue.Instant // when it was last that people waited or many came, or when the room was new; 0 before the first look
	slice  int64         // the current one, counted from 1970
	counts [queue.TrafficSlices]int
}

// count counts newcomers.
func (t *traffic) count(s *queue.Settings, newcomers int, now queue.Instant) {
	if s.QueueWhen > 0 {
		t.turn(now)
		t.counts[t.slice%queue.TrafficSlices] += newcomers
	}
}

// follow has the room begin to count once QueueWhen is passed, and open again once it has been calm
// for long enough.
func (t *traffic) follow(s *queue.Settings, now queue.Instant, waiting bool) {
	if s.QueueWhen == 0 {
		*t = traffic{}
		return
	}
	t.turn(now)
	came := 0
	for _, n := range t.counts {
		came += n
	}
	calm := came < s.OpensAgainBelow()
	switch {
	case waiting || came >= s.QueueWhen:
		t.open, t.busy = false, now
	case t.busy == 0 || !calm:
		t.busy = now
	case t.busy.Add(queue.CalmTime) <= now:
		t.open = true
	}
}

// turn drops the slices that are older than a minute.
func (t *traffic) turn(now queue.Instant) {
	slice := int64(now) / trafficSlice.Milliseconds()
	for n := max(t.slice+1, slice-queue.TrafficSlices+1); n <= slice; n++ {
		t.counts[n%queue.TrafficSlices] = 0
	}
	t.slice = slice
}

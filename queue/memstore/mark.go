package memstore

import "github.com/fairdoor-gate/fairdoor/queue"

// markSlice is how long newcomers are counted together.
const markSlice = queue.AllowancePeriod / queue.MarkSlices

// mark is where the traffic of a room stands that counts only from QueueWhen on. redisstore's mark.lua does the same.
type mark struct {
	open   bool          // nobody is counted
	busy   queue.Instant // when it was last that people waited or many came, or when the room was new; 0 before the first look
	slice  int64         // the current one, counted from 1970
	counts [queue.MarkSlices]int
}

// count counts newcomers.
func (m *mark) count(s *queue.Settings, newcomers int, now queue.Instant) {
	if s.QueueWhen > 0 {
		m.turn(now)
		m.counts[m.slice%queue.MarkSlices] += newcomers
	}
}

// follow has the room begin to count once the mark is passed, and open again once it has been calm for long enough.
func (m *mark) follow(s *queue.Settings, now queue.Instant, waiting bool) {
	if s.QueueWhen == 0 {
		*m = mark{}
		return
	}
	m.turn(now)
	came := 0
	for _, n := range m.counts {
		came += n
	}
	calm := came < s.OpensAgainBelow()
	switch {
	case waiting || came >= s.QueueWhen:
		m.open, m.busy = false, now
	case m.busy == 0 || !calm:
		m.busy = now
	case m.busy.Add(queue.MarkDwell) <= now:
		m.open = true
	}
}

// turn drops the slices that are older than a minute.
func (m *mark) turn(now queue.Instant) {
	slice := int64(now) / markSlice.Milliseconds()
	for n := max(m.slice+1, slice-queue.MarkSlices+1); n <= slice; n++ {
		m.counts[n%queue.MarkSlices] = 0
	}
	m.slice = slice
}

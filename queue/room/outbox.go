package room

import (
	"sync"

	"github.com/anteroom-gate/anteroom/queue"
)

// outbox is what visits leave for the next report: they never wait for a call. The
// counts, sessions and revocations keep what is unreported of them.
type outbox struct {
	mu         sync.Mutex
	left       []queue.Departure
	priorities []queue.Priority
	admitted   queue.Admissions // without the store
}

// goodbye leaves that a visitor has said goodbye. Nodes are told of so many only, and
// anybody can say goodbye as often as they like: those beyond leave when their next
// check-in is missed.
func (o *outbox) goodbye(id queue.ID, at queue.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.left) < queue.MaxLeft {
		o.left = append(o.left, queue.Departure{ID: id, At: at})
	}
}

// remove leaves that a visitor is to be taken out of the exact line.
func (o *outbox) remove(id queue.ID, at queue.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = append(o.left, queue.Departure{ID: id, At: at})
}

// prefer leaves that a visitor in the exact line has a priority.
func (o *outbox) prefer(id queue.ID, priority int16) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.priorities = append(o.priorities, queue.Priority{ID: id, Priority: priority})
}

// admit leaves that a visitor was let in without the store.
func (o *outbox) admit(at queue.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.admitted.Add(admission(at))
}

// admission is one at a moment.
func admission(at queue.Instant) queue.Admissions {
	return queue.Admissions{Minute: at.Floor(queue.AllowancePeriod), Visitors: 1}
}

// drainInto puts all that was left into a report.
func (o *outbox) drainInto(p *queue.Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p.Left, p.Priorities, p.Admitted = o.left, o.priorities, o.admitted
	o.left, o.priorities, o.admitted = nil, nil, queue.Admissions{}
}

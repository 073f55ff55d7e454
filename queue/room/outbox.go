package room

import (
	"maps"
	"slices"
	"sync"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// outbox keeps what visits have to say to the store until the next report: they never
// wait for a call. The presence, the sessions and the revocations keep what is unreported
// of their own.
type outbox struct {
	mu         sync.Mutex
	left       []queue.Departure
	unanswered []queue.ID
	told       map[queue.ID]struct{}
	priorities []queue.Priority
	admitted   queue.Admissions // without the store
	stock      queue.Stock
}

// goodbye has the next report tell that a visitor has said goodbye. It takes only as many
// as nodes are told of, for anybody can say goodbye as often as they like: the others leave
// when their next check-in is missed.
func (o *outbox) goodbye(id queue.ID, at queue.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.left) < queue.MaxLeft {
		o.left = append(o.left, queue.Departure{ID: id, At: at})
	}
}

// remove has the next report take a visitor out of the exact line.
func (o *outbox) remove(id queue.ID, at queue.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = append(o.left, queue.Departure{ID: id, At: at})
}

// withdraw has the next report take a newcomer out of the exact line who does not know of their
// place. There are only as many as the store has given places since the last report.
func (o *outbox) withdraw(id queue.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unanswered = append(o.unanswered, id)
}

// tell has the next report tell that a visitor with a place knows of their session.
func (o *outbox) tell(id queue.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told == nil {
		o.told = map[queue.ID]struct{}{}
	}
	o.told[id] = struct{}{}
}

// prefer has the next report give a visitor in the exact line a priority.
func (o *outbox) prefer(id queue.ID, priority int16) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.priorities = append(o.priorities, queue.Priority{ID: id, Priority: priority})
}

// countAdmission has the next report tell that a visitor was let in without the store.
func (o *outbox) countAdmission(at queue.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.admitted.Add(admission(at))
}

// admission is one visitor who was let in at a moment.
func admission(at queue.Instant) queue.Admissions {
	return queue.Admissions{Minute: at.Floor(queue.AllowancePeriod), Visitors: 1}
}

// hear has the next report tell how much is left.
func (o *outbox) hear(s queue.Stock) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stock = o.stock.Later(s)
}

// drainInto puts it all into a report.
func (o *outbox) drainInto(p *queue.Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p.Left, p.Unanswered, p.Priorities, p.Admitted, p.Stock = o.left, o.unanswered, o.priorities, o.admitted, o.stock
	p.Told = slices.Collect(maps.Keys(o.told))
	o.left, o.unanswered, o.told, o.priorities, o.admitted, o.stock = nil, nil, nil, nil, queue.Admissions{}, queue.Stock{}
}

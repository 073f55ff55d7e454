package room

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/anteroom-gate/anteroom/queue"
)

// untold are the admissions of visitors who came back with their ticket, and were not told that they
// were let in, because the store's answer was lost. Where such a session ended before its visitor
// came again, they go back to their place, once: see goBack.
type untold struct {
	any      atomic.Bool
	mu       sync.Mutex
	admitted map[queue.ID]queue.Instant
}

// some reports whether there are any.
func (u *untold) some() bool { return u.any.Load() }

// add takes in that a visitor was let in at a moment.
func (u *untold) add(id queue.ID, admitted queue.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.admitted == nil {
		u.admitted = map[queue.ID]queue.Instant{}
	}
	u.admitted[id] = admitted
	u.any.Store(true)
}

// of is when a visitor was let in; 0 for one who is not among them.
func (u *untold) of(id queue.ID) queue.Instant {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.admitted[id]
}

// tell takes in a decision that its visitor is told.
func (u *untold) tell(d *Decision) {
	if d.Ticket.State != queue.Accepted || !u.some() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.admitted, d.Ticket.ID)
}

// forget forgets the admissions before a moment.
func (u *untold) forget(before queue.Instant) {
	if !u.some() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.admitted, func(_ queue.ID, admitted queue.Instant) bool { return admitted < before })
	u.any.Store(len(u.admitted) > 0)
}

// goBackUntold is goBack of a waiting ticket whose place lasts and was used by an admission that nobody
// was told of. A visitor who has gone back before does not go back again.
func (v visit) goBackUntold() {
	t := &v.Ticket
	admitted := v.untold.of(t.ID)
	if admitted == 0 || t.AcceptedAt != 0 || t.LastCheckIn.Add(v.rules.PlaceKept()) <= v.at ||
		v.sessions.expires(v.sessionsAt(), t.ID) > v.sessionsAt() {
		return
	}
	*t = queue.Ticket{State: queue.Waiting, ID: t.ID, ArrivedAt: t.ArrivedAt, CameAt: t.CameAt, AcceptedAt: admitted, LastCheckIn: admitted,
		Number: t.Number, Priority: t.Priority, Moved: t.Moved}
}

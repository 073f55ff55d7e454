package room

import (
	"context"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// Room is one room on one node. Its methods may be called concurrently; now is
// always the moment of the call by the node's clock, which never goes back; an Instant is
// a moment by the store's.
type Room struct {
	name       string
	clock      *storeClock
	conditions *conditions
	outbox     *outbox
	exchange   *exchange
	estimates  *estimate.Estimator
	visits     *visits
	pressures  *pressures

	moving callLock // held while a ticket moves to another device
}

// New returns a room that has made itself known to its store at now. A room
// that is new to the store is configured with c.Settings; one that is not goes
// on as it was configured. It fails if the settings are out of bounds or the
// store does not answer.
func New(ctx context.Context, now time.Time, c Config) (*Room, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	return open(ctx, now, c)
}

// Name returns the room's name.
func (r *Room) Name() string { return r.name }

// Visit decides about a request at now. Visitors who are in, who ask early, or
// whose turn has not come are answered without a call to the store; but it is
// asked once about a place from before the room was made.
func (r *Room) Visit(ctx context.Context, now time.Time, q Request) Decision {
	d := r.visits.decide(ctx, now, q)
	if d.Fresh && d.Waited > 0 {
		r.estimates.Judge(d.Ticket.AcceptedAt, d.Waited)
	}
	return d
}

// CheckIn is a visit that lets nobody in. It renews the session of an accepted ticket,
// and is a check-in of a waiting one. A visitor who has neither gets a place if they have
// to wait, and nothing if a slot is open to them. A visitor whose turn has come may take
// the slot with their next request.
func (r *Room) CheckIn(ctx context.Context, now time.Time, q Request) Decision {
	return r.visits.checkInOnly(ctx, now, q)
}

// Peek tells how a visitor stands at now, and changes nothing: it is no check-in
// and renews no session. The ticket's State is None for a visitor who is neither in
// nor in line. Its times are as far as this node and the store know: AcceptedAt may
// be zero, and so may the Place of somebody in an exact line, while the store does
// not answer.
func (r *Room) Peek(ctx context.Context, now time.Time, q Request) (queue.Ticket, queue.Place) {
	return r.visits.visit(now, &q).peek(ctx)
}

// Recall returns the ticket of the slot that is kept, or was kept just now, for the visitor of a
// waiting ticket, and whether there is one. The store is asked: the slot may have been taken at
// another node.
func (r *Room) Recall(ctx context.Context, now time.Time, q Request) (queue.Ticket, bool) {
	return r.visits.visit(now, &q).recall(ctx, now)
}

// DueIn is how long after now the next check-in of a waiting ticket counts;
// negative if it would have counted before.
func (r *Room) DueIn(now time.Time, t queue.Ticket) time.Duration {
	return t.Due().Sub(r.clock.at(now))
}

// StoreTime is the moment of now by the store's clock.
func (r *Room) StoreTime(now time.Time) queue.Instant { return r.clock.at(now) }

// Leave stops counting a waiting visitor who has said goodbye. They keep the
// place in their ticket, and are counted again when they come back; in an exact line
// they count for LineReturn after it. A subject may wait with another device, and
// counts until their next check-in is missed.
func (r *Room) Leave(now time.Time, t queue.Ticket) { r.visits.leave(now, t) }

// Withdraw takes back the place of a newcomer whom no answer has told of it, with the ticket that
// they were to get.
func (r *Room) Withdraw(now time.Time, t queue.Ticket) { r.visits.withdraw(now, t) }

// Turns returns those whose turn has come. In random there are none.
func (r *Room) Turns() Turns { return r.conditions.turns() }

// HasMoved reports whether a ticket is a copy of one that has moved to another device, as far as
// this node knows.
func (r *Room) HasMoved(now time.Time, t queue.Ticket) bool {
	return r.visits.sessions.hasMoved(&t, r.clock.at(now))
}

// IsIn reports whether the visitor of an accepted ticket is in, as far as this node knows: their
// session lasts, and the ticket is not void.
func (r *Room) IsIn(now time.Time, t queue.Ticket) bool { return r.visits.isIn(now, &t) }

// Touch keeps an accepted visitor's session active at now: for an answer of theirs
// that is still under way. It returns whether the session lasts; one that is over
// stays over.
//
// A fixed session is not extended. Its slot alone is kept while the answer lasts, so
// that nobody else is let in meanwhile; the visitor's next request finds the session
// over.
func (r *Room) Touch(now time.Time, t queue.Ticket) bool { return r.visits.touch(now, t) }

// TouchIn is how long after now an answer that is under way is to be touched for the
// first time, well before its visitor's session ends.
func (r *Room) TouchIn(now time.Time, t queue.Ticket) time.Duration {
	return r.conditions.rules.Load().touchIn(t.Expires.Sub(r.clock.at(now)))
}

// TouchEvery is how often an answer is touched from then on.
func (r *Room) TouchEvery() time.Duration { return r.conditions.rules.Load().touchEvery() }

// Connect keeps the seat of a visitor whose connection has been made at now, and
// says whether they have it. A store that several gates share keeps a seat for longer
// than a gate knows, so it is asked where the gate knows of none.
func (r *Room) Connect(ctx context.Context, now time.Time, t queue.Ticket) bool {
	return r.visits.connect(ctx, now, t)
}

// Renew does what a request of the visitor would for what they have: it renews
// the session of an id, as far as requests do in the room, and is a check-in of a
// place in the exact line. It lets nobody in.
func (r *Room) Renew(ctx context.Context, now time.Time, id queue.ID) error {
	return r.visits.renewInStore(ctx, now, id, r.conditions.rules.Load().Renews())
}

// EdgeAdmission is for how long from now on an edge may let in the visitor of a ticket by itself; 0
// for not at all. The session at the gate lasts longer. A leased session is to be confirmed by a
// request at the gate first.
func (r *Room) EdgeAdmission(now time.Time, t queue.Ticket) time.Duration {
	return r.visits.edgeAdmission(now, &t)
}

// Revoke ends an accepted visitor's session at now. Tickets that tell of it are
// void from then on.
func (r *Room) Revoke(now time.Time, t queue.Ticket) { r.visits.revoke(now, t) }

// Remove ends the session of an id, or takes it out of the exact line, and says
// whether it was in either. Tickets that tell of it are void from then on, for a
// session's duration at least.
func (r *Room) Remove(ctx context.Context, now time.Time, id queue.ID) (bool, error) {
	was, err := r.visits.remove(ctx, now, id)
	if !was {
		return false, err
	}
	return true, r.Sync(ctx, now)
}

// Move takes the place, or the session, of a ticket to another device, and returns the ticket for
// it. Copies of the old ticket are void: here at once, and at other nodes once they have heard of
// it from the store. Where two move one ticket at two nodes at the same moment, both have it, and
// still one place and one slot. The error is ErrMoved for a copy that has moved before, or
// MostMoves times; ErrTooMoved while too many have; and else the store's.
func (r *Room) Move(ctx context.Context, now time.Time, t queue.Ticket) (queue.Ticket, error) {
	if err := r.visits.mayMove(r.clock.at(now), &t); err != nil { // which costs nothing
		return t, err
	}
	r.moving.lock()
	defer r.moving.unlock()
	if err := r.Sync(ctx, now); err != nil { // others may have moved it
		return t, err
	}
	if err := r.visits.move(now, &t); err != nil {
		return t, err
	}
	return t, r.Sync(ctx, now)
}

// Follow returns a ticket as it is on the device that it has moved to, as far as this node knows.
func (r *Room) Follow(now time.Time, t queue.Ticket) queue.Ticket {
	r.visits.sessions.follow(&t, r.clock.at(now))
	return t
}

// Prefer gives a visitor in the exact line a priority. For a visitor who is not in it,
// it does nothing.
func (r *Room) Prefer(ctx context.Context, now time.Time, id queue.ID, priority int16) error {
	r.outbox.prefer(id, priority)
	return r.Sync(ctx, now)
}

// Say takes in what the site says of a visitor who is in, or in the exact line: JSON, of MaxNote
// bytes at most. What is news has reached the store when Say returns, unless that does not answer:
// then the next report tells it.
func (r *Room) Say(ctx context.Context, now time.Time, id queue.ID, text string) {
	news := r.exchange.notes.say(queue.Note{ID: id, At: r.clock.at(now), Text: text})
	if news && !r.conditions.outage.failing() {
		r.exchange.tellNotes(ctx, now)
	}
}

// Roster returns who is in the room and in its exact line: of the given ids, or
// without any, of all, at most MaxRoster each.
func (r *Room) Roster(ctx context.Context, ids ...queue.ID) (*queue.Roster, error) {
	return r.exchange.roster(ctx, ids...)
}

// Everybody is as a Roster, with all whom the store names. It has asked for them MaxRoster at a time,
// so that no call holds up the store for long: who has come since the first is missing, and who has
// gone since may be there.
func (r *Room) Everybody(ctx context.Context) (*queue.Roster, error) {
	all, err := r.Roster(ctx)
	if err != nil || len(all.More) == 0 {
		return all, err
	}
	for ids := range slices.Chunk(all.More, queue.MaxRoster) {
		some, err := r.Roster(ctx, ids...)
		if err != nil {
			return nil, err
		}
		all.Seated, all.Line = append(all.Seated, some.Seated...), append(all.Line, some.Line...)
	}
	all.More = nil
	all.Sort()
	for i := range all.Line { // some were asked for later, and fewer may have been ahead of them then
		all.Line[i].Ahead = all.Line[0].Ahead + i
	}
	return all, nil
}

// Sync reports to the store what this node has seen and takes in how the room
// stands. Call it about once a second, and when Config.OnBurst says so; for a store in the
// same process, ten times a second.
func (r *Room) Sync(ctx context.Context, now time.Time) error {
	_, err := r.exchange.sync(ctx, now)
	return err
}

// SyncIn is how long after now to call Sync next: after the usual time, or sooner if a session ends
// by then whose slot somebody waits for. The store gives the slot on once every node has reported
// that it has not renewed the session. Of many nodes each reports as often as usual, and so does
// each while the store does not answer.
func (r *Room) SyncIn(now time.Time, usual time.Duration) time.Duration {
	v, rules := r.conditions.view.Load(), r.conditions.rules.Load()
	if r.conditions.outage.failing() || rules.slack == 0 || v.Present == 0 || v.NextOpen == 0 || v.Open < rules.Slots()-v.Active {
		return usual
	}
	soonest := max(queue.ReportTime, time.Duration(len(v.synced.Nodes))*10*time.Millisecond)
	return min(usual, max(soonest, v.NextOpen.Sub(r.clock.at(now))+reportTakes))
}

// reportTakes is how long after a moment the store's clock shows it, by which a report then has
// arrived.
const reportTakes = 20 * time.Millisecond

// Numbers returns the latest numbers.
func (r *Room) Numbers() *estimate.Numbers { return r.estimates.Numbers() }

// Age is how long before now the numbers were true.
func (r *Room) Age(now time.Time, n *estimate.Numbers) time.Duration {
	return max(r.clock.at(now).Sub(n.At), 0)
}

// Scores says what came of the waits that this node told: by quarter of an hour, for the
// last day, and in all.
func (r *Room) Scores() (quarters []estimate.Score, total estimate.Score) {
	return r.estimates.Scores()
}

// Waits returns how long the visitors had waited whom this node has let in from the line, and
// what those of them were told as they arrived who were told a wait, since the room was made.
func (r *Room) Waits() (waited, told waits.Counter) { return r.estimates.Waits() }

// GaveUp counts the visitors who have stopped checking in without being let in, since the room was
// made, in the time in which this node was the only one; some may come back. It knows nobody of an
// exact line. They are counted within 64 syncs.
func (r *Room) GaveUp() uint64 { return r.visits.presence.gaveUp.people.Load() }

// Status returns how the room stands by the store's last answer, and the store's time at now.
// While StoreFailing, it stands otherwise by now.
func (r *Room) Status(now time.Time) (status queue.Status, at queue.Instant) {
	return r.conditions.view.Load().Status, r.clock.at(now)
}

// CurrentNumbers syncs and returns how the room stands now, rather than what visitors
// were last told.
func (r *Room) CurrentNumbers(ctx context.Context, now time.Time) (*estimate.Numbers, error) {
	v, err := r.exchange.sync(ctx, now)
	if err != nil {
		return nil, err
	}
	return r.estimates.Current(v, &r.conditions.rules.Load().Settings, r.conditions.paused.Load()), nil
}

// Configuration returns the configuration in force.
func (r *Room) Configuration() queue.Configuration { return r.conditions.rules.Load().configuration }

// Configure changes what the room goes by, on every node: the Settings, with
// their zero durations set to their defaults, and what c says of them. Nobody
// is thrown out, and nobody is admitted until there is room by the new limits.
// It fails, and changes nothing, if the settings are out of bounds or the store
// does not answer; with ErrConflict, if another node was first: then the room
// has that one's configuration. If c has a Version, it is that
// of the configuration that c was made from, and has to be in force.
func (r *Room) Configure(ctx context.Context, now time.Time, c queue.Configuration) error {
	return r.exchange.configure(ctx, now, c)
}

// Settings returns the limits and switches in force.
func (r *Room) Settings() queue.Settings { return r.conditions.rules.Load().Settings }

// LimitsNetworks reports whether requests have to say which network they come from.
func (r *Room) LimitsNetworks() bool { return r.conditions.rules.Load().MaxWaitingPerNetwork > 0 }

// Suspended reports whether the room is not used for now.
func (r *Room) Suspended() bool { return r.conditions.rules.Load().Suspended }

// Occupancy is what keeps a visitor in the room.
func (r *Room) Occupancy() queue.Occupancy { return r.conditions.rules.Load().Occupancy }

// HearLeft takes in how much the origin says is left, and of which items, "" for nothing of them. It
// was asked at a moment. The next sync tells it. It says whether that is urgent, because the room may
// close or open by it.
func (r *Room) HearLeft(asked time.Time, left int, items queue.Items) (urgent bool) {
	r.outbox.hear(queue.Stock{At: r.clock.at(asked), Left: left, Items: items})
	known := r.conditions.view.Load().synced.Stock
	return (left == 0) != (known.Known() && known.Left == 0) && !r.conditions.outage.failing()
}

// SoldOut reports whether the room is closed because nothing is left.
func (r *Room) SoldOut() bool { return r.conditions.soldOut(r.conditions.rules.Load()) }

// Leads reports whether this node is the first of those that have reported to the store lately: one
// of them does what is to be done once.
func (r *Room) Leads() bool {
	nodes := r.conditions.view.Load().synced.Nodes
	return len(nodes) == 0 || r.exchange.node <= slices.Min(nodes)
}

// HoldsActive reports whether those who are in are held.
func (r *Room) HoldsActive() bool { return r.conditions.rules.Load().HoldsActive() }

// Pause stops admissions, or lets them go on, without touching the settings:
// for a time in which the origin does not answer.
func (r *Room) Pause(paused bool) { r.conditions.paused.Store(paused) }

// Hold holds every new visitor of this node, or lets them in again, without touching the settings:
// for a prequeue that has begun while the store, which the settings have to be told, does not
// answer.
func (r *Room) Hold(holds bool) { r.conditions.holds.Store(holds) }

// StoreFailing reports whether the store left the last call unanswered.
func (r *Room) StoreFailing() bool { return r.conditions.outage.failing() }

// StoreErrors counts the calls that the store has left unanswered, and the
// visitors who were let in meanwhile by the room's policy.
func (r *Room) StoreErrors() (calls, letIn uint64) { return r.conditions.outage.counts() }

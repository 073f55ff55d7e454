package waitlist

import (
	"context"
	"errors"
	"time"
)

// keepEvents is how long events are kept.
const keepEvents = 30 * 24 * time.Hour

// EventKind says what has happened to an entry.
type EventKind string

// The kinds of events.
const (
	EventJoined    EventKind = "joined"    // signed up, or was imported; where addresses are confirmed it does not wait yet
	EventConfirmed EventKind = "confirmed" // the address was confirmed: the entry waits
	EventInvited   EventKind = "invited"
	EventAccepted  EventKind = "accepted"
	EventExpired   EventKind = "expired"  // the invite was not accepted in time, or an operator ended it
	EventPutBack   EventKind = "put_back" // an operator took the spot away: the entry waits
	EventMovedUp   EventKind = "moved_up" // has a higher priority and waits
	EventLeft      EventKind = "left"     // left, or signed up anew under another number
	EventRemoved   EventKind = "removed"  // by an operator, or because the address was not confirmed in time
)

// EventKinds returns all kinds.
func EventKinds() []EventKind {
	return []EventKind{
		EventJoined, EventConfirmed, EventInvited, EventAccepted, EventExpired, EventPutBack, EventMovedUp, EventLeft, EventRemoved,
	}
}

// Event is something that has happened to an entry. It is written in the transaction of the change.
// The entry is as it is when the event is read: so an event tells nothing personal of somebody who
// was erased meanwhile, of whom only the number is left.
type Event struct {
	ID    int64 // one more than that of the event before it
	At    time.Time
	Kind  EventKind
	Entry Entry
}

// tell notes that something has happened to entries.
func (t *tx) tell(kind EventKind, numbers ...int64) {
	for _, number := range numbers {
		t.lastEvent++
		t.events = append(t.events, []any{t.list, t.lastEvent, t.now, string(kind), number})
	}
}

// writeEvents writes what was noted.
func (t *tx) writeEvents() error {
	return t.insert(`INSERT INTO events (waitlist, id, at, kind, number)`, t.events)
}

// forgetEvents forgets events that are older than keepEvents.
func (t *tx) forgetEvents(now int64) error {
	return t.exec(`DELETE FROM events WHERE waitlist = $1 AND id IN (SELECT id FROM events WHERE waitlist = $1 AND at <= $2 ORDER BY id LIMIT $3)`,
		t.list, now-keepEvents.Milliseconds(), mostChanged)
}

// Events returns events in their order, at most so many from the one after the given, and the id of
// the last that there is. After 0 come those that are kept. The error is ErrGone if the event after
// the given one is not kept any more, or if the record, restored from a backup, does not have the
// given one: then the reader has to read the entries anew.
func (l *List) Events(ctx context.Context, after int64, most int) (list []Event, last int64, err error) {
	if !l.opened.Load() {
		return nil, 0, ErrAway
	}
	if _, err := one(ctx, l.db.reader, `SELECT last_event FROM waitlists WHERE name = $1`, []any{l.name}, &last); err != nil {
		return nil, 0, err
	}
	err = each(ctx, l.db.reader, `SELECT id, at, kind, number FROM events WHERE waitlist = $1 AND id > $2 ORDER BY id LIMIT $3`,
		[]any{l.name, after, most}, func(scan func(into ...any) error) error {
			var e Event
			var at int64
			err := scan(&e.ID, &at, &e.Kind, &e.Entry.Number)
			e.At = when(at)
			list = append(list, e)
			return err
		})
	if err != nil {
		return nil, 0, err
	}
	lost := after > 0 && after < last && (len(list) == 0 || list[0].ID != after+1)
	if lost || after > last {
		return nil, last, ErrGone
	}
	return list, last, l.describe(ctx, list)
}

// describe gives events the entries that they are of.
func (l *List) describe(ctx context.Context, list []Event) error {
	if len(list) == 0 {
		return nil
	}
	numbers, found := make([]any, len(list)), map[int64]Entry{}
	for i := range list {
		numbers[i] = list[i].Entry.Number
	}
	entries, err := l.entries(ctx, `e.number IN (`+placeholders(1, len(numbers))+`)`, numbers...)
	if err != nil {
		return err
	}
	for _, e := range entries {
		found[e.Number] = e
	}
	for i := range list {
		e, is := found[list[i].Entry.Number]
		if !is || e.Status == Removed {
			e = Entry{Number: list[i].Entry.Number, Status: Removed}
		}
		list[i].Entry = e
	}
	return nil
}

// turnLasts is how long a node may take to tell a receiver what is its turn to tell.
const turnLasts = time.Minute

// Turn is that of this node to tell a receiver of events.
type Turn struct {
	Events []Event // the next, in their order
	Tries  int     // how often it was tried to tell the first

	receiver string
	until    int64
}

// TakeTurn returns what a receiver is to be told next, at most so many events, or nil if that is
// nothing now, or another node's turn. The node has a minute to tell it and to call EndTurn:
// afterwards another node tells it the same. A receiver that is not known yet is told of what
// happens from now on.
func (l *List) TakeTurn(ctx context.Context, receiver string, most int, now time.Time) (*Turn, error) {
	if !l.opened.Load() {
		return nil, ErrAway
	}
	var told, due, tries, last int64
	known, err := one(ctx, l.db.reader, `SELECT r.told, r.due_at, r.tries, w.last_event FROM receivers r JOIN waitlists w ON w.name = r.waitlist
		WHERE r.waitlist = $1 AND r.name = $2`, []any{l.name, receiver}, &told, &due, &tries, &last)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, l.write(ctx, now, func(t *tx) error {
			return t.exec(`INSERT INTO receivers (waitlist, name, told) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, t.list, receiver, t.lastEvent)
		})
	case told == last || l.at(now).UnixMilli() < due:
		return nil, nil
	}
	turn := Turn{Tries: int(tries), receiver: receiver}
	var mine int64
	err = l.write(ctx, now, func(t *tx) (err error) {
		turn.until = t.now + turnLasts.Milliseconds()
		mine, err = t.count(`UPDATE receivers SET due_at = $5 WHERE waitlist = $1 AND name = $2 AND told = $3 AND due_at = $4`,
			t.list, receiver, told, due, turn.until)
		return err
	})
	if err != nil || mine == 0 {
		return nil, err
	}
	if told > last { // the record was restored from a backup
		told = 0
	}
	if turn.Events, _, err = l.Events(ctx, told, most); errors.Is(err, ErrGone) {
		turn.Events, _, err = l.Events(ctx, 0, most)
	}
	return &turn, err
}

// EndTurn ends a turn: the receiver has been told all up to an event, 0 for none, and is not asked
// again before the wait is over. Failed says that it did not take the next. If the turn has lasted
// too long, it changes nothing.
func (l *List) EndTurn(ctx context.Context, turn *Turn, told int64, wait time.Duration, failed bool, now time.Time) error {
	tries := int64(0)
	if failed {
		tries = 1
		if told == 0 {
			tries += int64(turn.Tries)
		}
	}
	return l.write(ctx, now, func(t *tx) error {
		return t.exec(`UPDATE receivers SET told = CASE WHEN CAST($4 AS BIGINT) = 0 THEN told ELSE CAST($4 AS BIGINT) END, tries = $5, due_at = $6
			WHERE waitlist = $1 AND name = $2 AND due_at = $3`, t.list, turn.receiver, turn.until, told, tries, t.now+wait.Milliseconds())
	})
}

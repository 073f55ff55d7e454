package waitlist

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/line"
)

// order is an index in memory of those who wait, in order, and of those who have accepted: it tells
// ranks, and whom the door lets in. The record is what counts; the index follows it by the versions
// of the entries.
type order struct {
	catchUp sync.Mutex // held while following; guards seen
	seen    int64      // the version up to which the index has followed

	mu sync.RWMutex // guards what follows
	standings
}

// standings are what the index tells.
type standings struct {
	line   line.Line
	guests map[int64]guest  // those who have accepted
	users  map[string]int64 // those of them whom the site names
	held   int64            // live invites and acceptances
}

func newStandings() standings { return standings{guests: map[int64]guest{}, users: map[string]int64{}} }

// guest is somebody who has accepted.
type guest struct {
	joined  int64 // when they signed up, in milliseconds since 1970
	user    string
	spot    int64 // that they have
	invited int64 // when it was released
}

// change is what the index needs to know of an entry.
type change struct {
	number   int64
	priority int16
	status   Status
	guest
}

// atATime is how many changes are made while ranks cannot be read.
const atATime = 256

// id gives an entry the id under which the line finds it.
func id(number int64) (id queue.ID) {
	binary.LittleEndian.PutUint64(id[:], uint64(number))
	return id
}

// rank returns the place of an entry among those who wait, from 1; 0 if it does not wait. Total
// counts those who wait.
func (o *order) rank(number int64) (rank, total int) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if e := o.line.Find(id(number)); e != nil {
		ahead, _ := o.line.Ahead(e)
		rank = ahead + 1
	}
	return rank, o.line.Len()
}

// ofUser returns the number of the entry with which a user of the site has accepted; 0 for none.
func (o *order) ofUser(user string) int64 {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.users[user]
}

// guest returns who has accepted with the entry of that number.
func (o *order) guest(number int64) (g guest, found bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	g, found = o.guests[number]
	return g, found
}

func (o *order) apply(changes []change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range changes {
		o.place(c)
		o.admit(c)
	}
}

// place puts an entry in line, or takes it out.
func (o *order) place(c change) {
	e := o.line.Find(id(c.number))
	switch {
	case e == nil && c.status == Waiting:
		o.line.Add(id(c.number), c.priority, uint64(c.number), 0, 0)
	case e != nil && c.status == Waiting:
		o.line.Prefer(e, c.priority)
	case e != nil:
		o.line.Remove(e)
	}
}

// admit notes that an entry has accepted, or that it holds no accepted spot any more.
func (o *order) admit(c change) {
	if was, found := o.guests[c.number]; found {
		delete(o.guests, c.number)
		delete(o.users, was.user)
	}
	if c.status != Accepted {
		return
	}
	o.guests[c.number] = c.guest
	if c.user != "" {
		o.users[c.user] = c.number
	}
}

// selectChanges reads changes. What follows has $1 for the list.
const selectChanges = `SELECT number, version, status, priority, joined_at, COALESCE(user_id, ''), COALESCE(spot, 0),
	COALESCE((SELECT released_at FROM spots s WHERE s.waitlist = entries.waitlist AND s.id = entries.spot), 0) FROM entries WHERE waitlist = $1 AND `

// load reads everybody who waits or has accepted. The order tells what it told before until all are
// read. What changes meanwhile is read again by the next follow. The caller holds catchUp, or is
// alone with the order.
func (o *order) load(ctx context.Context, db *database, list string) error {
	fresh := &order{standings: newStandings()}
	seen, err := fresh.count(ctx, db, list)
	if err != nil {
		return err
	}
	for _, s := range []Status{Waiting, Accepted} {
		if _, err := fresh.read(ctx, db, selectChanges+`status = $2 ORDER BY priority DESC, number`, list, string(s)); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.standings, o.seen = fresh.standings, seen
	return nil
}

// count reads how many spots are held, and returns the version of the list.
func (o *order) count(ctx context.Context, db *database, list string) (version int64, err error) {
	var held int64
	if _, err := one(ctx, db.reader, `SELECT version, held FROM waitlists WHERE name = $1`, []any{list}, &version, &held); err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = held
	return version, nil
}

// follow reads what has changed since, by whichever node. The transactions of a list follow one
// another and each has a greater version, so nothing can appear later below the version that was
// seen. If the list has an older version than that, its database has lost transactions: a backup
// was restored, or another server has taken over. Then everything is read again.
func (o *order) follow(ctx context.Context, db *database, list string) error {
	o.catchUp.Lock()
	defer o.catchUp.Unlock()
	version, err := o.count(ctx, db, list)
	if err != nil {
		return err
	}
	if version < o.seen {
		return o.load(ctx, db, list)
	}
	newest, err := o.read(ctx, db, selectChanges+`version > $2 ORDER BY version`, list, o.seen)
	o.seen = max(o.seen, newest)
	return err
}

// read applies the rows of a query. If it fails, some rows are applied, and newest is 0: they are
// read again.
func (o *order) read(ctx context.Context, db *database, query string, args ...any) (newest int64, err error) {
	changes := make([]change, 0, atATime)
	err = each(ctx, db.reader, query, args, func(scan func(into ...any) error) error {
		var c change
		if err := scan(&c.number, &newest, &c.status, &c.priority, &c.joined, &c.user, &c.spot, &c.invited); err != nil {
			return err
		}
		if changes = append(changes, c); len(changes) == atATime {
			o.apply(changes)
			changes = changes[:0]
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	o.apply(changes)
	return newest, nil
}

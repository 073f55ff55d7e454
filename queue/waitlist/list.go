package waitlist

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// List is an open waitlist. Its methods may be called at the same time. Each that changes something
// returns when the change is durable. The time that a method is given is that of the node's clock:
// see [List.at] for nodes whose clock is wrong.
type List struct {
	name     string
	db       *database
	settings atomic.Pointer[Settings]
	order    order
	mailKey  []byte // written before opened

	opening sync.Mutex  // held while the list is opened
	opened  atomic.Bool // the list is in the database, and the order is read

	erased  atomic.Bool // personal data whose traces the database is still to wipe
	jobs    chan *job
	closing chan struct{} // closed to end work
	closed  chan struct{} // closed when work has ended
}

// Status says how far an entry has come.
type Status string

// The statuses of an entry.
const (
	Unconfirmed Status = "unconfirmed" // the address is not confirmed yet: the entry counts for nobody
	Waiting     Status = "waiting"     // in line
	Invited     Status = "invited"     // holds a spot that has not been accepted yet
	Accepted    Status = "accepted"    // holds a spot
	Expired     Status = "expired"     // did not accept in time
	Removed     Status = "removed"     // has left, or was removed; personal data is erased
)

// Statuses returns all statuses, in the order in which an entry comes by them.
func Statuses() []Status { return []Status{Unconfirmed, Waiting, Invited, Accepted, Expired, Removed} }

// Name returns the name of the list.
func (l *List) Name() string { return l.name }

// Settings returns the settings that the list goes by.
func (l *List) Settings() Settings { return *l.settings.Load() }

// Configure changes the settings. What has been released before stays: with a smaller capacity
// nothing is released until enough spots have ended.
func (l *List) Configure(s Settings) error {
	if err := s.Validate(); err != nil {
		return err
	}
	l.settings.Store(&s)
	return nil
}

// Rank returns the place of the entry with that number among those who wait, from 1, and how many
// wait. The rank is 0 if the entry does not wait. What this node has changed counts at once, what
// other nodes have changed after their changes were followed.
func (l *List) Rank(number int64) (rank, total int) { return l.order.rank(number) }

// Guest is somebody who has accepted an invite.
type Guest struct {
	Number              int64  // of the entry
	UserID              string // "" for nobody whom the site names
	Rank                int64  // the how-manieth spot of the list they have, from 1
	JoinedAt, InvitedAt time.Time
}

// Guest returns who has accepted with the entry of that number, which signed up at a moment. Like
// Rank and GuestOf it asks memory alone.
func (l *List) Guest(number int64, joined time.Time) (g Guest, found bool) {
	of, found := l.order.guest(number)
	if !found || of.joined != joined.UnixMilli() { // or an entry of an earlier record had the number
		return Guest{}, false
	}
	return Guest{number, of.user, of.spot, when(of.joined), when(of.invited)}, true
}

// GuestOf returns the guest who is a user of the site.
func (l *List) GuestOf(userID string) (g Guest, found bool) {
	number := l.order.ofUser(userID)
	of, found := l.order.guest(number)
	if !found || of.user != userID {
		return Guest{}, false
	}
	return Guest{number, of.user, of.spot, when(of.joined), when(of.invited)}, true
}

// IsFull reports whether all spots of the capacity are held.
func (l *List) IsFull() bool {
	most := l.settings.Load().Capacity
	l.order.mu.RLock()
	defer l.order.mu.RUnlock()
	return most > 0 && l.order.held >= int64(most)
}

// at corrects a time of the node's clock to the database's, by which invites expire on all nodes.
func (l *List) at(now time.Time) time.Time { return now.Add(time.Duration(l.db.ahead.Load())) }

// Follow reads what other nodes have changed, so that ranks are right. Sweep does it too.
func (l *List) Follow(ctx context.Context) error { return l.order.follow(ctx, l.db, l.name) }

func (l *List) close() {
	close(l.closing)
	<-l.closed
}

// when reads a moment of the record, in UTC.
func when(milliseconds int64) time.Time {
	if milliseconds == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds).UTC()
}

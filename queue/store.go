package queue

import (
	"context"
	"errors"
	"time"
)

// Cell is where a waiting visitor is counted: their bucket, and the end of the
// window of time in which they are due next. Past Until they count no more.
type Cell struct {
	Bucket Instant
	Until  Instant
}

// CellChange is how many more people (or fewer) a node counts in a cell than
// when it last reported.
type CellChange struct {
	Cell
	People int
}

// Session says until when an accepted visitor holds a slot.
type Session struct {
	ID      ID
	Expires Instant
}

// Admissions is how many visitors were let in during a calendar minute.
type Admissions struct {
	Minute   Instant
	Visitors int
}

// Place is a visitor's position in the exact line of a room whose method is
// Line. The zero Place is none.
type Place struct {
	// Number is counted up from 1 as visitors join. Among those of one priority a
	// smaller one is ahead.
	Number   uint64
	Ahead    int   // people ahead in line, those whose ticket has not come back among them
	Length   int   // of the line, this visitor included
	Priority int16 // a higher one is ahead of all of a lower one; default 0

	// Joined says that the place was taken with this claim, at the end of those of
	// its priority.
	Joined bool
}

// Departure is a goodbye.
type Departure struct {
	ID ID
	At Instant
}

// Priority is the priority that an operator has given a visitor.
type Priority struct {
	ID       ID
	Priority int16
}

// Report is what a node has seen since its last report that was answered; a
// Whole one is all that it knows of the room.
type Report struct {
	Node     uint64  // the node's own name, drawn at random at its start
	Seq      uint64  // one more than the last report's; a report seen before is not counted again. 0 of a node that introduces itself
	Now      Instant // the store's clock as the node reckons it, or if it introduces itself its own; a store without one goes by it
	Epoch    string  // the store's memory that the node last heard of; "" at its start
	Since    Instant // the Now of the last view that the node has: View.Entered is told from there, and Revoked it has heard of until then
	Version  int64   // of the configuration that the node has
	Cells    []CellChange
	Sessions []Session

	// Revoked are sessions that were ended; their tickets stay void until Expires.
	// The slot of one is held, and counts, until every other node that has reported
	// within the last ten seconds has a view from after it was revoked, or until its
	// end: so long may its visitor pass there.
	Revoked []Session

	// Left are visitors who have said goodbye. One who is in the exact line, and has
	// not checked in since, keeps the place for LineReturn: a page that is loaded
	// again says goodbye too.
	Left []Departure

	// Of the exact line.
	Priorities []Priority // of visitors in line; of others nothing is kept
	LastNumber uint64     // the highest that the node has heard of: the store gives out higher ones

	// Admitted are the visitors that the node let in without asking the store; in
	// a whole report, all that it let in during the current minute.
	Admitted Admissions

	// Configuration is told to a store that goes by an older one; in a whole
	// report, and where a view's was older than the node's. Else its Version is 0.
	Configuration Configuration

	// Of a whole report only.
	Whole bool
	Nodes []uint64 // the nodes it knew, itself among them
}

// Claim asks for a slot.
type Claim struct {
	ID ID

	// Cell is where the claimant is counted as waiting. A newcomer, who has
	// everyone present ahead, has the zero Cell.
	Cell Cell

	// Due is when a waiting claimant may ask again, so that one who asks at
	// several nodes draws once.
	Due Instant

	// HeldOnly asks only whether the id holds a slot already.
	HeldOnly bool

	// Renew has a slot that the id holds already held for a further session from
	// now, in the same step: the store may be about to give it away.
	Renew bool

	// By the ticket of a waiting claimant: when they arrived and when they last
	// checked in. An admission after they arrived has used their place.
	ArrivedAt   Instant
	LastCheckIn Instant

	// Of a room with an exact line; each claim is a check-in there. The claimant is
	// found by their id, or joins.
	Number   uint64 // by their ticket; 0 for none
	Priority int16  // of one who joins
	Raise    bool   // Priority is for one who is found, too, if it is higher than theirs
	NoSlot   bool   // they keep or take a place, but no slot; in the other methods neither
	NoPlace  bool   // they take a slot or nothing
}

// LineReturn is for how long after a goodbye a place in an exact line is kept.
const LineReturn = 3 * time.Second

// Newcomer reports whether the claimant has everyone present ahead.
func (c Claim) Newcomer() bool { return c.Cell == Cell{} }

// Verdict is a store's answer to a claim.
type Verdict uint8

// The verdicts.
const (
	Refused Verdict = iota // no slot for this claimant now
	Granted                // a slot was taken
	Held                   // this id holds a slot already
	Beyond                 // let in uncounted: a passthrough room counts no further
	Used                   // the place in line was used up by an earlier admission of this id
	Banned                 // this id's session was revoked
)

// Grant is a verdict, for Granted and Held with the session behind it.
type Grant struct {
	Verdict    Verdict
	AcceptedAt Instant
	Expires    Instant
	Place      Place // of one who is Refused in a room with an exact line, and waits there
}

// Status is how a room stands by its store.
type Status struct {
	Now      Instant // the store's clock
	Epoch    string  // names the store's memory: another one means that it has lost some
	Active   int     // sessions that hold a slot
	Admitted int     // admissions in this calendar minute
	Open     int     // open slots by the one rule; never negative
	Present  int     // people present in line: of an exact one, its length
	// NextOpen is the first moment at which Open may be larger than it is here
	// though nothing is reported or claimed; zero if there is none.
	NextOpen Instant

	// Recovering says that nobody is admitted until the nodes that the store
	// knew have reported, because it has lost some of its memory.
	Recovering bool

	// Settling says that the places of some who are in an exact line are not known
	// yet: Ahead and Length count those that are.
	Settling bool

	// WantWhole asks the node for a whole report; what it reported now was not
	// counted.
	WantWhole bool
}

// BucketCount is the number of people present in a bucket.
type BucketCount struct {
	Bucket  Instant
	Waiting int
}

// View is a room as its store knows it.
type View struct {
	Status
	Buckets []BucketCount // those with people present, oldest first

	// Rate is the number of admissions per minute over the last whole minutes
	// in which people waited throughout; valid if RateKnown.
	Rate      float64
	RateKnown bool

	Revoked []Session // sessions whose tickets are void
	Entered []Session // those let in since Report.Since, by whichever node
	Left    []ID      // those who said goodbye since Report.Since, at whichever node; the latest MaxLeft
	Nodes   []uint64  // those that reported lately

	// Of an exact line; 0 and empty without one.
	FirstNumber uint64 // the lowest of those who wait with the default priority
	LastNumber  uint64 // the highest that was given out
	Preferred   int    // how many wait with a higher priority
	Turns       []ID   // those whose turn it is: of the confirmed ones in line the first Open, at most MaxTurns

	Configuration Configuration // as it stands; its Settings are valid only if Version is not Report.Version
}

// MaxLeft is how many goodbyes at most nodes are told of at a time.
const MaxLeft = 1000

// MaxTurns is how many people at most are told at a time that it is their turn.
const MaxTurns = 100

// Roll is who is in a room and who is in its exact line.
type Roll struct {
	Now    Instant
	Seated []Seat   // the first to be let in first
	Line   []Waiter // in order
}

// Seat is a session that holds a slot.
type Seat struct {
	Session
	AcceptedAt Instant
}

// Waiter is somebody in an exact line.
type Waiter struct {
	ID
	Place
	Until Instant // when the place is lost without a check-in
}

// MaxRoll is how many seats, and how many places in line, a Roll lists at most.
const MaxRoll = 1000

// Configuration is what a room goes by, on every node.
type Configuration struct {
	Version   int64 // 0 before the first
	Settings  Settings
	Overrides []byte // what operators have changed of it while it ran, as whoever configured it wrote that down
	By        string // who did
	At        Instant
	Places    Places // as Room.Configure has made it of what was before
}

// ErrConflict is returned by Configure for a version that is not the next one.
var ErrConflict = errors.New("the room was configured by somebody else meanwhile")

// Store is what the nodes of a room share. Calls for one room by one node do
// not overlap; calls of different nodes do. Every call is atomic. A room whose
// Settings say that it is Fleeting is forgotten once no call was made for so long
// that no ticket of it can matter any more, and is then as one never heard of.
type Store interface {
	// Configure makes c what the store and all nodes go by. c.Version must be one
	// more than that of the last configuration, of 0 in a room that is new to the
	// store; otherwise it returns ErrConflict and changes nothing. It ends no
	// session and gives none away.
	Configure(ctx context.Context, room string, c Configuration) error

	// Admit counts the report and then decides the claims by the one rule, one after
	// the other as they are given; see [InOrder].
	// grants[i] is the verdict on claims[i]. Whoever is let in, Held and Beyond too,
	// is taken out of their cell in the same step. It is idempotent by id: an id that
	// holds a slot is Held, and takes none. On an error no slot was granted; whether
	// the report was counted is unknown, and the same report may be sent again.
	//
	// With an exact line each claim is a check-in: those who have not checked in for
	// LineDropout have no place any more, though a step takes out only so many of
	// them; the claimant is found in line or joins it, and is let in if fewer are
	// ahead than slots are open. The place of a newcomer who joins is confirmed by
	// their next claim. Until then it counts as ahead of other newcomers alone, and
	// ends with ConfirmsWithin; whoever brings its ticket after that, but within
	// LineDropout, is taken up at their number. A place that a store with a lost
	// memory does not find is taken up as the ticket has it, if its last check-in was
	// before the memory began and within LineDropout; and so are the places from
	// before a room got its line, by their arrival. Where people may be about to be
	// taken up, no slots are open for as long as Settings.ReturnsWithin.
	Admit(ctx context.Context, room string, report *Report, claims []Claim, grants []Grant) (Status, error)

	// Sync counts the report and returns how the room stands. On an error the
	// same report may be sent again.
	Sync(ctx context.Context, room string, report *Report) (*View, error)

	// Roll returns who is in the room and in its exact line: of the given ids, or
	// without any, of all, at most MaxRoll each.
	Roll(ctx context.Context, room string, ids []ID) (*Roll, error)

	// Close releases what the store holds. No call may be under way.
	Close() error
}

// Incomplete says whether some people may be missing from the view.
func (v *View) Incomplete() bool { return v.Recovering || v.Settling }

// LetIn reports whether the claimant is in.
func (g Grant) LetIn() bool {
	return g.Verdict == Granted || g.Verdict == Held || g.Verdict == Beyond
}

// Add counts more, of the same minute or a later one.
func (a *Admissions) Add(more Admissions) {
	switch {
	case more.Minute > a.Minute:
		*a = more
	case more.Minute == a.Minute:
		a.Visitors += more.Visitors
	}
}

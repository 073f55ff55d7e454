package queue

import (
	"context"
	"errors"
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

// Report is what a node has seen since its last report that was answered; a
// Whole one is all that it knows of the room.
type Report struct {
	Node     uint64  // the node's own name, drawn at random at its start
	Seq      uint64  // one more than the last report's; a report seen before is not counted again
	Now      Instant // the store's clock as the node reckons it; a store without its own goes by it
	Epoch    string  // the store's memory that the node last heard of; "" at its start
	Since    Instant // the Now of the last view that the node has; View.Entered is told from there
	Version  int64   // of the configuration that the node has
	Cells    []CellChange
	Sessions []Session
	Revoked  []Session // sessions that were ended; their tickets stay void until Expires

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
}

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

// Grant is a verdict, and for Granted and Held the session behind it.
type Grant struct {
	Verdict    Verdict
	AcceptedAt Instant
	Expires    Instant
}

// Standing is how a room stands by its store.
type Standing struct {
	Now      Instant // the store's clock
	Epoch    string  // names the store's memory: another one means that it has lost some
	Active   int     // sessions that hold a slot
	Admitted int     // admissions in this calendar minute
	Open     int     // open slots by the one rule; never negative
	Present  int     // people present in line
	// NextOpen is the first moment at which Open may be larger than it is here
	// though nothing is reported or claimed; zero if there is none.
	NextOpen Instant

	// Recovering says that nobody is admitted until the nodes that the store
	// knew have reported, because it has lost some of its memory.
	Recovering bool

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
	Standing
	Buckets []BucketCount // those with people present, oldest first

	// Rate is the number of admissions per minute over the last whole minutes
	// in which people waited throughout; valid if RateKnown.
	Rate      float64
	RateKnown bool

	Revoked []Session // sessions whose tickets are void
	Entered []Session // those let in since Report.Since, by whichever node
	Nodes   []uint64  // those that reported lately

	Configuration Configuration // as it stands; its Settings are valid only if Version is not Report.Version
}

// Configuration is what a room goes by, on every node.
type Configuration struct {
	Version   int64 // 0 before the first
	Settings  Settings
	Overrides []byte // what operators have changed of it while it ran, as whoever configured it wrote that down
	By        string // who did
	At        Instant
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

	// Admit counts the report and then decides the claims by the one rule:
	// buckets in order, newcomers last, and claims of one bucket as given.
	// grants[i] is the verdict on claims[i]. Whoever is let in, Held and
	// Beyond too, is taken out of their cell in the same step. It is idempotent by id: an id that holds a
	// slot is Held, and takes none. On an error no slot was granted; whether
	// the report was counted is unknown, and the same report may be sent again.
	Admit(ctx context.Context, room string, report *Report, claims []Claim, grants []Grant) (Standing, error)

	// Sync counts the report and returns how the room stands. On an error the
	// same report may be sent again.
	Sync(ctx context.Context, room string, report *Report) (*View, error)

	// Close releases what the store holds. No call may be under way.
	Close() error
}

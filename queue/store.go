package queue

import "context"

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

// Report is what a node has seen since its last report that was answered.
type Report struct {
	Node     uint64  // the node's own name, drawn at random at its start
	Seq      uint64  // grows with each report; a report seen before is not counted again
	Now      Instant // the node's clock, which a store without its own goes by
	Cells    []CellChange
	Sessions []Session
	Revoked  []Session // sessions that were ended; their tickets stay void until Expires
}

// Claim asks for a slot.
type Claim struct {
	ID ID

	// Cell is where the claimant is counted as waiting. A newcomer, who has
	// everyone present ahead, has the zero Cell.
	Cell Cell
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
	Active   int     // sessions that hold a slot
	Admitted int     // admissions in this calendar minute
	Open     int     // open slots by the one rule; never negative
	Present  int     // people present in line
	// NextOpen is the first moment at which Open may be larger than it is here
	// though nothing is reported or claimed; zero if there is none.
	NextOpen Instant
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
}

// Store is what the nodes of a room share. Calls for one room by one node do
// not overlap; calls of different nodes do. Every call is atomic.
type Store interface {
	// Configure makes s what the store goes by for the room, which is created
	// by its first Configure. It ends no session and gives none away.
	Configure(ctx context.Context, room string, s Settings) error

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

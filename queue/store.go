package queue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Cell is where a waiting visitor is counted: their bucket, and the end of the window of
// time in which their next check-in is due. After Until they no longer count.
type Cell struct {
	Bucket Instant
	Until  Instant
}

// CellChange is how many more people, or fewer, a node counts in a cell than when it last
// reported.
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

// Place is a visitor's place in an exact line. The zero Place is none.
type Place struct {
	// Number counts up from 1 as visitors join. Of two visitors with one priority, the one
	// with the smaller number is ahead.
	Number   uint64
	Ahead    int   // people in front, those whose ticket has not come back among them
	Length   int   // of the line, this visitor included
	Priority int16 // a visitor with a higher one is ahead of all with a lower one; default 0

	// Joined says that the claimant took the place with this claim, behind all others of
	// their priority.
	Joined bool
}

// Departure is a goodbye that a visitor has said.
type Departure struct {
	ID ID
	At Instant
}

// Priority is the priority that an operator has given a visitor.
type Priority struct {
	ID       ID
	Priority int16
}

// Note is what the site has said of a visitor, in JSON, and when.
type Note struct {
	ID   ID
	At   Instant
	Text string // at most MaxNote bytes
}

// MaxNote is how many bytes a Note has at most.
const MaxNote = 512

// MaxNotes is how many Notes a Report has at most. A node that knows of more tells of the others with
// its next reports.
const MaxNotes = 1000

// NotesSwept is how many notes a store looks at with each Sync, to forget those of visitors who are
// gone.
const NotesSwept = 250

// Report is what a node has seen since its last report that was answered. A Whole report is
// all that the node knows of the room.
type Report struct {
	Node     uint64  // the node's own name, drawn at random at its start
	Seq      uint64  // one more than the last report's, so that no report is counted twice; 0 for a node that introduces itself
	Now      Instant // the store's clock as the node reckons it; the node's own if it introduces itself. A store without a clock goes by it
	Epoch    string  // the last store's memory that the node knows; "" at its start
	Since    Instant // the Now of the node's last view that was not Recovering: the node knows who had entered, left or been revoked by then
	Version  int64   // of the configuration that the node has
	Cells    []CellChange
	Sessions []Session

	// Final is the moment up to which the node knows the ends of sessions for good: it renews none
	// that had ended by then, but for those that it has reported. It is 0 if the node does not
	// know.
	Final Instant

	// Revoked are sessions that were ended. Their tickets stay void until Expires. A
	// revoked session holds its slot until every other node that has reported within the
	// last ten seconds has a view from after the revocation, or until its end: until then
	// its visitor may pass at such a node.
	Revoked []Session

	// Left are visitors who have said goodbye. If such a visitor is in the exact line and
	// has not checked in since, they count there for LineReturn: a page that is loaded
	// again says goodbye, too. Whoever comes back with a ticket within LineDropout after
	// the goodbye is where they were, if their place was confirmed, but for somebody who
	// was revoked.
	Left []Departure

	// Unanswered are newcomers whom no answer has told of their place. Those of them who have no
	// confirmed place in the exact line are taken out of it.
	Unanswered []ID

	// Told are visitors whom an answer has told that they have a session of which their ticket does
	// not know, and whom the store had not let in just then. So they know of it, whatever became of
	// the answer to their claim: see Claim.HeldOnly.
	Told []ID

	Notes []Note // what the site has said of visitors; of a Whole report, the first of all that the node knows of

	// Of the exact line.
	Priorities []Priority // of visitors in line; a store ignores those of others
	LastNumber uint64     // the highest number that the node knows of: the store gives out higher ones

	// Stock is what the node has heard from the origin last; in a whole report, the latest that it
	// knows of. The zero Stock is for nothing since the last report.
	Stock Stock

	// Admitted are the visitors whom the node let in without asking the store. In a whole
	// report they are all whom it let in during the current minute.
	Admitted Admissions

	// Configuration is for a store that has an older one. It is in a whole report, and in
	// one that follows a view with an older configuration than the node's. Else its
	// Version is 0.
	Configuration Configuration

	// Factor is what the node would leave of new_users_per_minute, above 0 and below 1, because the
	// origin is slow as it sees it; 0 if it would leave all of it. The room goes by the lowest
	// factor of the nodes that have reported lately.
	Factor float64

	// Newcomers are the visitors without a ticket who came since the last report, where QueueWhen
	// needs to know.
	Newcomers int

	// Of a whole report only.
	Whole bool
	Nodes []uint64 // the nodes that the node knew, itself among them

	// Boundaries are those of the node's last view, which a store goes on with that has lost its
	// own.
	Boundaries Boundaries
}

// Claim asks for a slot.
type Claim struct {
	ID ID

	// Cell is where the claimant is counted as waiting. A newcomer, who has everyone
	// present ahead, has the zero Cell.
	Cell Cell

	// Moved is where another node has counted a claimant up to now, whom this node counts in
	// Cell from now on; the zero Cell for none. The store takes them out of Moved, too, unless
	// they are Held: then another claim of theirs may have. Its time may have passed: a store
	// that was closed itself counts those in it who could not check in meanwhile for longer.
	Moved Cell

	// KeepCell has a claimant who is Held stay counted in Cell until its window passes: this
	// node has taken them out of the cell of another node earlier, and has to count one person
	// for that.
	KeepCell bool

	// Due is when a waiting claimant may claim again. With it a store knows a claimant who
	// claims at several nodes, and has them draw once.
	Due Instant

	// HeldOnly has the store say only whether the id holds a slot already, or else, of one who
	// waits, whether there was an admission since ArrivedAt. It is for claims whose answer was
	// lost, with the report that comes again. Of one who waits and was granted a slot with that
	// report nobody was told. Such an admission has not used the place, unless a node says that the
	// visitor was Told.
	HeldOnly bool

	// Renew makes a session that the id has last for a further session duration from now, but
	// not beyond its LastMoment.
	// That is one step with the answer, because the store may be about to give the slot
	// away.
	Renew bool

	// Lease has a session that is granted last only so long, or as long as any if that is
	// less. A report of the session makes it a whole one, and so does a later claim of the
	// id without a Lease. 0 is for a whole session.
	Lease time.Duration

	// These are from the ticket of a waiting claimant. An admission after ArrivedAt of which they
	// were told has used their place. AcceptedAt is that of a claimant who has gone back to their
	// place from a session that was given for a Lease; 0 for others. That admission, and any before
	// it, has not used the place.
	ArrivedAt   Instant
	LastCheckIn Instant
	AcceptedAt  Instant

	// Of a room with an exact line. Each claim is a check-in there: the store finds the
	// claimant in line by their id, or the claimant joins.
	Number   uint64 // from the ticket; 0 for none
	Priority int16  // for a claimant who joins
	Raise    bool   // Priority is also for a claimant who is in line with a lower one
	NoSlot   bool   // the claimant keeps or takes a place, but no slot; in other methods neither
	NoPlace  bool   // the claimant takes a slot, but no place
}

// LineReturn is how long a visitor counts in an exact line after a goodbye.
const LineReturn = 3 * time.Second

// PlaceUsedBy reports whether an admission at that moment has used the claimant's place.
func (c Claim) PlaceUsedBy(admitted Instant) bool {
	return admitted >= c.ArrivedAt && admitted > c.AcceptedAt
}

// GoesBack reports whether the claimant goes back to their place with this claim.
func (c Claim) GoesBack() bool { return c.AcceptedAt != 0 && c.LastCheckIn <= c.AcceptedAt }

// Newcomer reports whether the claimant has everyone present ahead.
func (c Claim) Newcomer() bool { return c.Cell == Cell{} }

// Verdict is a store's answer to a claim.
type Verdict uint8

// The verdicts.
const (
	Refused Verdict = iota // no slot for this claimant now
	Granted                // the claimant has a slot from now on
	Held                   // this id holds a slot already
	Beyond                 // let in uncounted: a passthrough room counts no further
	Used                   // an earlier admission of this id has used the place in line
	Banned                 // this id's session was revoked
)

// Grant is a verdict, and for Granted and Held the session that the claimant has. For a claim that
// is HeldOnly, Used has when the one began that they had.
type Grant struct {
	Verdict    Verdict
	AcceptedAt Instant
	Expires    Instant
	Place      Place // of a claimant who is Refused and waits in an exact line
}

// Status is the state of a room by its store.
type Status struct {
	Now      Instant // the store's clock
	Epoch    string  // names the store's memory: it changes when the store has lost some of it
	Active   int     // sessions that hold a slot
	Admitted int     // admissions in this calendar minute
	Open     int     // open slots by the one rule; never negative
	Present  int     // people present in line; the length of an exact line
	// NextOpen is when Open may grow next: as a session ends, or as more of the allowance is
	// released. A session has ended once its nodes may have reported that they did not renew it. It
	// is zero if Open does not grow.
	NextOpen Instant

	// Recovering says that the store has lost some of its memory, and admits nobody until
	// the nodes that it knew have reported.
	Recovering bool

	// Untold says that visitors were admitted lately who were not told. Once their session is over,
	// they have their place again. A node takes it for used, so it has to ask the store.
	Untold bool

	// Settling says that the store does not know all places yet, so that more people may be ahead
	// of a visitor than Ahead and Length say. A store says so of an exact line. Of other lines a
	// node finds out: people come back who waited before, and the room is new to the store.
	Settling bool

	// Factor is what is left of new_users_per_minute; 1 for all of it. See [Slowed]. A node's part
	// in it ends Lately after its last report: NextOpen does not foresee that.
	Factor float64

	// OpenToAll says that the room counts nobody, because the traffic has not passed QueueWhen.
	OpenToAll bool

	// WantWhole asks the node for a whole report. This report was not counted.
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

	// Boundaries are where the buckets of a room begin whose store cuts them. A node counts a
	// visitor in the bucket that their arrival falls into by the latest it has heard of, and takes
	// them out of the one that it has counted them in.
	Boundaries Boundaries

	// Ends are how many sessions end within each of EndSteps from Now, if they are not renewed, in
	// a room that keeps order and in which people wait.
	Ends [len(EndSteps)]int

	// Rate is the number of admissions per minute over the last whole minutes in which
	// people waited throughout. It is valid if RateKnown.
	Rate      float64
	RateKnown bool

	Revoked []Session // sessions whose tickets are void
	Entered []Session // those let in since Report.Since, by any node
	Left    []ID      // those who said goodbye since Report.Since, at any node; the latest MaxLeft
	Nodes   []uint64  // those that reported lately

	// Of an exact line; 0 and empty without one.
	FirstNumber uint64 // the lowest number of those who wait with the default priority
	LastNumber  uint64 // the highest number that was given out
	Preferred   int    // how many wait with a higher priority
	Turns       []ID   // those whose turn it is: the first Open of those in line with a confirmed place, at most MaxTurns

	// Kept is the earliest last check-in, by running time, with which a place that lasts as long as
	// any is worth something now.
	Kept Instant

	Stock Stock // the latest that a node has reported. While the Settings are SoldOut by it, nobody is admitted

	Configuration Configuration // that is in force; its Settings are valid only if Version is not Report.Version
}

// EndSteps are the times for which a View counts the sessions that end.
var EndSteps = [...]time.Duration{
	1 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 6 * time.Second,
	8 * time.Second, 12 * time.Second, 16 * time.Second, 24 * time.Second, 32 * time.Second,
}

// MaxLeft is how many goodbyes a View lists at most.
const MaxLeft = 1000

// MaxTurns is how many people a View lists in Turns at most.
const MaxTurns = 100

// Roster is who is in a room and who is in its exact line.
type Roster struct {
	Now    Instant
	Seated []Seat   // in the order in which they were let in
	Line   []Waiter // in the order of the line
	Kept   Instant  // the earliest last check-in, by running time, with which a number is honoured

	More      []ID // others who are in or in line: a Roster of these ids tells of them
	Truncated bool // there may be others still
}

// Sort puts those who are in into the order in which they were let in, and those in line into
// the order of the line.
func (r *Roster) Sort() {
	slices.SortFunc(r.Seated, func(a, b Seat) int {
		return cmp.Or(cmp.Compare(a.AcceptedAt, b.AcceptedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	slices.SortFunc(r.Line, func(a, b Waiter) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Number, b.Number))
	})
}

// Seat is a session that holds a slot.
type Seat struct {
	Session
	AcceptedAt Instant
	Note       string // what the site says of the visitor, in JSON; "" for nothing
}

// Waiter is somebody in an exact line.
type Waiter struct {
	ID
	Place
	Until Instant // when the place ends without a check-in
	Note  string  // as of a Seat
}

const (
	// MaxRoster is how many seats, and how many places in line, a Roster lists at most.
	MaxRoster = 1000
	// MaxMore is how many others who are in, and how many others in line, a Roster names at most.
	MaxMore = 10_000
)

// Configuration is what a room goes by, on every node.
type Configuration struct {
	Version   int64 // 0 before the first
	Settings  Settings
	Overrides []byte  // what operators have changed while the room ran, in the form of the program that configured it
	By        string  // who configured the room
	At        Instant // when they did
	Places    Places  // what a place is worth that somebody got under an earlier configuration: see PlacesUnder

	Standstill Standstill // see StandstillUnder
}

// ErrConflict is the error of Configure for a version that is not the next one.
var ErrConflict = errors.New("the room was configured by somebody else meanwhile")

// Store is what the nodes of a room share. Calls of one node for one room do not overlap;
// calls of different nodes do. Every call is atomic. A store forgets a room whose Settings
// say that it is Fleeting, once nobody has called for so long that no ticket of the room
// can matter any more. The room is then new to the store.
type Store interface {
	// Configure puts c in force, for the store and for all nodes. c.Version must be one
	// more than the version in force, which is 0 in a room that is new to the store. If it
	// is not, Configure returns ErrConflict and changes nothing. It ends no session and
	// grants none. While the Settings have HoldNow, sessions stand still, see [Standstill]:
	// the store tells of each as if the hold ended now. A hold begins and ends with the
	// first report after the configuration.
	Configure(ctx context.Context, room string, c Configuration) error

	// Admit counts the report and then decides the claims by the one rule, one after the other as
	// they are given; see [InOrder]. grants[i] is the verdict on claims[i]. In the same step it
	// takes everybody who is let in out of their cell, those who are Held or Beyond, too, and
	// claimants who have moved out of the cell that they come from. An id that holds a slot is Held
	// and takes no other, so that a claim can come twice. On an error no slot was granted. The
	// report may have been counted or not, and the node may send it again.
	//
	// In a room with an exact line each claim is a check-in:
	//
	//   - The store finds the claimant in line, or the claimant joins it. The claimant is
	//     let in if fewer people are ahead than slots are open.
	//   - A visitor who has not checked in for LineDropout has no place any more, though a
	//     call takes only some such places out of the line.
	//   - The place of a newcomer is unconfirmed until their next claim. Until then it is
	//     ahead of other unconfirmed places alone, and ends after ConfirmsWithin.
	//   - A visitor who is not in line, and whose place was not used, has the number in
	//     their ticket again if its last check-in was within LineDropout, by running time: see
	//     the package comment. The store may have lost its memory, or not have heard of
	//     that check-in.
	//   - When a room gets its line, a visitor who waited before gets a place by their
	//     arrival.
	//   - Where places may still be taken up in these ways, no slots are open for
	//     Settings.ReturnsWithin.
	Admit(ctx context.Context, room string, report *Report, claims []Claim, grants []Grant) (Status, error)

	// Sync counts the report and returns the room as the store knows it. On an error the
	// node may send the same report again.
	Sync(ctx context.Context, room string, report *Report) (*View, error)

	// Roster returns which of the ids are in the room and in its exact line. Without ids it
	// returns who is, at most MaxRoster in each, and the ids of more. In line these are the first;
	// of those who are in, they may be any. Of each it tells the latest Note that a node has
	// reported. A note is kept through a visitor's place and the session that follows it, and is
	// gone with them: who comes anew has none.
	Roster(ctx context.Context, room string, ids []ID) (*Roster, error)

	// Close releases what the store holds. No call may be under way.
	Close() error
}

// Incomplete reports whether some people may be missing from the view.
func (v *View) Incomplete() bool { return v.Recovering || v.Settling }

// LetIn reports whether the claimant is let in.
func (g Grant) LetIn() bool {
	return g.Verdict == Granted || g.Verdict == Held || g.Verdict == Beyond
}

// Add counts more admissions, of the same minute or of a later one.
func (a *Admissions) Add(more Admissions) {
	switch {
	case more.Minute > a.Minute:
		*a = more
	case more.Minute == a.Minute:
		a.Visitors += more.Visitors
	}
}

package room

import (
	"net/netip"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Outcome is what becomes of a request.
type Outcome uint8

// The outcomes.
const (
	Queued   Outcome = iota // the visitor waits, with the place in the ticket
	Admitted                // the visitor is in
	Rejected                // the room takes nobody, and no place in line either
	Busy                    // the visitor would have to wait, and this request cannot
	OnHold                  // the visitor is in, and those who are in are held: their session stands still
	Kept                    // the visitor has a slot until Ticket.Expires; they have to come by then with a request of a page that they look at
	Moved                   // the visitor's place is on another device: this ticket is void
)

// Request is a visitor at the door.
type Request struct {
	Ticket queue.Ticket // what they brought; the zero Ticket for nothing that is trusted

	Ask Ask // what they ask for, and how

	// Network is where the request comes from, in a room with MaxWaitingPerNetwork. An IPv6 network
	// counts in its /48, too. The zero Prefix is for one that is not known, and is not limited.
	Network netip.Prefix

	outOfDraw bool // the visitor has lost the place that was drawn for them

	// Subject is who the site says the visitor is, whichever device they use: they
	// have one place and one slot. The zero ID leaves it to the ticket.
	Subject queue.ID

	// Priority is what the site has signed for the visitor; default 0.
	Priority int16

	// Ahead is where a pass puts the visitor, who is a Subject then.
	Ahead queue.Ahead
}

// Decision is the answer to a Request.
type Decision struct {
	Outcome Outcome
	Ticket  queue.Ticket // as it should be from now on; State None if the visitor has none
	Issue   bool         // Ticket is not what the visitor brought: send it
	Drop    bool         // what the visitor brought has ended: delete it
	Fresh   bool         // the visitor was let in by this request, or has got the slot that is kept for them

	// Rejoined says that a Queued visitor has another place than their ticket told, behind it: as a
	// rule they have come back too late.
	Rejoined bool

	// SoldOut says that a Rejected visitor is told so because nothing is left. They keep their
	// ticket: if the room opens again, they have their place for as long as it can be left.
	SoldOut bool

	// Crowded says that a Queued visitor has asked for a place, and it does not count, because as
	// many of their network do as may.
	Crowded bool

	// Early says that a Queued visitor has come back sooner than they were told, or with a ticket
	// that they have checked in with already, or that they only check in though their turn has
	// come.
	Early bool

	Place queue.Place // in the exact line, of a Queued visitor; the zero Place where none is known

	// Waited is how long a Fresh visitor had been in line.
	Waited time.Duration
}

const (
	// hiddenInterval is what browsers allow a page in the background.
	hiddenInterval = time.Minute
	// skew is how far a ticket may be ahead of the clock.
	skew = time.Minute
)

// pending is a visit that the store has to decide.
type pending struct {
	claim   queue.Claim
	ticket  queue.Ticket // the waiting claimant's, as it is if they go on waiting
	issue   bool         // it is not what they brought
	early   bool         // their check-in does not count
	beyond  bool         // the waiting claimant's place does not count, and they claim as newcomers do
	unheard bool         // the store has not answered, and the claimant is to come back soon
	request Request
}

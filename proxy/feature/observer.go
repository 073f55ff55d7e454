package feature

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// An Observer is a feature that is told what becomes of visitors, whichever way they ask. It holds up
// nobody.
type Observer interface {
	// Decided is told what is decided about a visitor.
	Decided(r *Room, s Sight)
	// Gone is told of a visitor who is in line, or in, no longer.
	Gone(r *Room, at time.Time, id queue.ID, why Going)
}

// Sight is what is decided about a visitor at a moment.
type Sight struct {
	At       time.Time
	Brought  queue.ID // the id of the ticket that they came with; the zero ID for none
	Ahead    bool     // a pass, a priority or operators have them be ahead of others
	Note     string   // what the site says of them, in JSON; "" where it says nothing, or nothing is known
	What     metrics.Result
	Decision room.Decision
}

// Going is why a visitor is in line, or in, no longer.
type Going string

// The reasons.
const (
	Left    Going = "left"    // their page said goodbye, or they gave up their place
	Revoked Going = "revoked" // the site ended their session
	Removed Going = "removed" // operators took them out
)

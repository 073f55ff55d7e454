package callback

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/webpush"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// Call is a visitor who is to be called.
type Call struct {
	Visitor string       `json:"visitor"` // see VisitorOf
	Room    string       `json:"room"`
	Ticket  string       `json:"ticket"` // sealed
	Support string       `json:"supportCode"`
	Subject queue.ID     `json:"subject"`  // who they are to the site; the zero ID if it does not say
	Rank    int16        `json:"priority"` // in an exact line
	From    netip.Prefix `json:"network"`  // the network that they asked from
	Around  netip.Prefix `json:"around"`   // the IPv6 /48 that it is in; the zero Prefix for one of IPv4

	Subscription webpush.Subscription `json:"subscription"`
	Service      string               `json:"service"`  // the push service of the subscription
	Key          string               `json:"key"`      // the public key that the subscription is for
	Site         string               `json:"site"`     // scheme and host
	Address      string               `json:"address"`  // path and query that they are to come back to
	Language     string               `json:"language"` // of what they are told

	Ends     time.Time `json:"ends"`     // until when their place is held
	Forget   time.Time `json:"forget"`   // when the call is forgotten, once it is over; zero before
	Foretold bool      `json:"foretold"` // they need not be told any more that it is almost their turn
	Owed     *Message  `json:"owed,omitempty"`
}

// over says whether nobody checks in for the visitor any more.
func (c *Call) over() bool { return !c.Forget.IsZero() }

// Message is what a visitor is told.
type Message struct {
	Kind  Kind      `json:"kind"`
	Until time.Time `json:"until"` // when it is of no use any more; of a Turn, when the slot goes on
	Next  time.Time `json:"next"`  // when it is sent
	Tries int       `json:"tries"`
}

// compare says which of two messages is more urgent: that of a turn, then one that has not failed
// yet, then the one that is due first.
func (m *Message) compare(other *Message) int {
	return cmp.Or(cmp.Compare(rank(m.Kind == Almost), rank(other.Kind == Almost)), cmp.Compare(rank(m.Tries > 0), rank(other.Tries > 0)), m.Next.Compare(other.Next))
}

func rank(later bool) int {
	if later {
		return 1
	}
	return 0
}

// Kind is what a message tells.
type Kind string

// The kinds. After any but Almost, the desk does not check in for the visitor any more.
const (
	Almost Kind = "almost" // it is almost their turn
	Turn   Kind = "turn"   // a slot is kept for them
	Closed Kind = "closed" // nobody is let in any more
	Lapsed Kind = "lapsed" // their place is not held any more
)

// VisitorOf is how the desk knows the visitor of a room.
func VisitorOf(room string, id queue.ID) string {
	sum := sha256.Sum256(append([]byte(room+"\n"), id[:]...))
	return hex.EncodeToString(sum[:16])
}

// Stand is how a visitor stands after a check-in.
type Stand struct {
	State  State
	Ticket string        // sealed
	Due    time.Duration // until the next check-in
	Until  time.Time     // of Called: when the slot goes on
	Lasts  time.Duration // for how long the ticket is worth something
}

// State is what has become of a visitor.
type State uint8

// The states.
const (
	Waits  State = iota // they wait, and their turn is not near
	Near                // it is almost their turn
	Called              // a slot is kept for them
	Shut                // the room takes nobody any more
	Gone                // they are in, or wait elsewhere or no more: they are not to be called
)

package callback

import (
	"net/netip"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Some of those who ask to be called have made their subscriptions up, at a push service that does
// not answer. So nobody has all of the desk, and none of its messages wait for those of one
// network, or of one service.

const (
	// leftFor is how many networks, each an IPv4 /24 or an IPv6 /56, would share the space that is
	// left: a network alone has 200 calls.
	leftFor = 9

	// checkIns is how many check-ins are under way at a time.
	checkIns = 16
	// messages is how many messages are under way at a time, messagesOfService to one push service,
	// messagesOfNetwork to one network.
	messages          = 64
	messagesOfService = 16
	messagesOfNetwork = 2
)

// tally counts calls.
type tally struct {
	all        int
	ofService  map[string]int
	ofNetworks map[netip.Prefix]int // and of the IPv6 /48s around them
}

func newTally() *tally {
	return &tally{ofService: map[string]int{}, ofNetworks: map[netip.Prefix]int{}}
}

// add counts a call, once or, by -1, no more.
func (t *tally) add(c *Call, n int) {
	t.all += n
	addTo(t.ofService, c.Service, n)
	addTo(t.ofNetworks, c.From, n)
	if c.Around.IsValid() {
		addTo(t.ofNetworks, c.Around, n)
	}
}

func addTo[K comparable](counts map[K]int, key K, n int) {
	if counts[key] += n; counts[key] == 0 {
		delete(counts, key)
	}
}

// hasSpace says whether the desk, of whose calls this is the tally, takes on another.
func (t *tally) hasSpace(c *Call) bool {
	left := MaxCalls - t.all
	return left > 0 && t.ofNetworks[c.From]*leftFor < left && t.ofNetworks[c.Around]*leftFor < queue.OfSite*left
}

// takes says whether another task for a call may be under way.
func (t *tally) takes(what task, c *Call) bool {
	if what == checkIn {
		return t.all < checkIns
	}
	return t.all < messages && t.ofService[c.Service] < messagesOfService &&
		t.ofNetworks[c.From] < messagesOfNetwork && t.ofNetworks[c.Around] < queue.OfSite*messagesOfNetwork
}

package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// lately is how long the latest admissions and the nodes that reported are told.
const lately = 10 * time.Second

// nodes are those that have reported within the last hour.
type nodes struct {
	known  map[uint64]*node
	latest []uint64      // those that reported lately; never changed, only made anew
	until  queue.Instant // the last moment at which latest is sure to be right
}

type node struct {
	at  queue.Instant // of its last report
	seq uint64
}

// reported returns the node, whose report comes now.
func (n *nodes) reported(name uint64, now queue.Instant) *node {
	known := n.known[name]
	if known == nil {
		known = &node{}
		n.known[name] = known
	}
	if known.at < now.Add(-lately) {
		n.until = 0
	}
	known.at = now
	return known
}

// list returns those that reported lately, and forgets those of long ago.
func (n *nodes) list(now queue.Instant) []uint64 {
	if now <= n.until {
		return n.latest
	}
	n.latest, n.until = make([]uint64, 0, len(n.known)), now.Add(lately)
	for name, known := range n.known {
		switch {
		case known.at < now.Add(-time.Hour):
			delete(n.known, name)
		case known.at >= now.Add(-lately):
			n.latest = append(n.latest, name)
			n.until = min(n.until, known.at.Add(lately))
		}
	}
	return n.latest
}

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
	at   queue.Instant // of its last report
	view queue.Instant // how new the view is that it has
	seq  uint64
}

// reported returns the node whose report comes now.
func (n *nodes) reported(p *queue.Report, now queue.Instant) *node {
	known := n.known[p.Node]
	if known == nil {
		known = &node{}
		n.known[p.Node] = known
	}
	if known.at < now.Add(-lately) {
		n.until = 0
	}
	known.at, known.view = now, p.Since
	return known
}

// heard reports whether all nodes that reported lately know what one of them said
// at a moment.
func (n *nodes) heard(by uint64, at, now queue.Instant) bool {
	for _, name := range n.list(now) {
		if name != by && n.known[name].view < at {
			return false
		}
	}
	return true
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

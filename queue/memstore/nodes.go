package memstore

import (
	"github.com/fairdoor-gate/fairdoor/queue"
)

// nodes are those that the store remembers.
type nodes struct {
	known  map[uint64]*node
	latest []uint64      // those that reported lately; views share it, so it is replaced, never changed
	until  queue.Instant // the last moment at which latest is sure to be right
}

type node struct {
	at   queue.Instant // of its last report
	view queue.Instant // the moment of the last view that it has
	seq  uint64        // of its last report that was counted

	final  queue.Instant // of its last report that was counted
	factor float64       // of its last report; 0 for none
}

// reported returns the node that reports now, and when it did before.
func (n *nodes) reported(p *queue.Report, now queue.Instant) (_ *node, before queue.Instant) {
	known := n.known[p.Node]
	if known == nil {
		known = &node{}
		n.known[p.Node] = known
	}
	if known.at < now.Add(-queue.Lately) {
		n.until = 0
	}
	before, known.at, known.view, known.factor = known.at, now, p.Since, p.Factor
	return known, before
}

// heard reports whether every other node that reported lately has a view from after a
// node's report at that moment.
func (n *nodes) heard(by uint64, at, now queue.Instant) bool {
	for _, name := range n.list(now) {
		if name != by && n.known[name].view < at {
			return false
		}
	}
	return true
}

// final is the moment up to which all nodes that reported lately know the ends of sessions for
// good, and how many these are.
func (n *nodes) final(now queue.Instant) (final queue.Instant, of int) {
	final = now
	for _, name := range n.list(now) {
		final = min(final, n.known[name].final)
	}
	return final, len(n.latest)
}

// factor is the lowest of the nodes that reported lately; 1 without any.
func (n *nodes) factor(now queue.Instant) float64 {
	lowest := 1.
	for _, known := range n.known {
		if known.factor > 0 && known.at >= now.Add(-queue.Lately) {
			lowest = min(lowest, known.factor)
		}
	}
	return lowest
}

// list returns those that reported lately, and forgets those of long ago.
func (n *nodes) list(now queue.Instant) []uint64 {
	if now <= n.until {
		return n.latest
	}
	n.latest, n.until = make([]uint64, 0, len(n.known)), now.Add(queue.Lately)
	for name, known := range n.known {
		switch {
		case known.at < now.Add(-queue.NodeRemembered):
			delete(n.known, name)
		case known.at >= now.Add(-queue.Lately):
			n.latest = append(n.latest, name)
			n.until = min(n.until, known.at.Add(queue.Lately))
		}
	}
	return n.latest
}

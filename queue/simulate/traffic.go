package simulate

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// traffic counts calls to the store. Those with newcomers, which do not wait for
// others to gather, are counted apart.
type traffic struct {
	steady, newcomers counter
}

func (t *traffic) countSync(now queue.Instant) { t.steady.add(now) }

func (t *traffic) countAdmit(now queue.Instant, claims []queue.Claim) {
	for _, c := range claims {
		if c.Newcomer() {
			t.newcomers.add(now)
			return
		}
	}
	t.steady.add(now)
}

// atLeast takes up the busiest seconds of another.
func (t *traffic) atLeast(other *traffic) {
	t.steady.most = max(t.steady.most, other.steady.most)
	t.newcomers.most = max(t.newcomers.most, other.newcomers.most)
}

// counter counts events, and the most of them in a second.
type counter struct {
	total, most int
	second      queue.Instant
	inSecond    int
}

func (c *counter) add(now queue.Instant) {
	if s := now.Floor(time.Second); s != c.second {
		c.second, c.inSecond = s, 0
	}
	c.total++
	c.inSecond++
	c.most = max(c.most, c.inSecond)
}

// Sharing says what several nodes, or one with a store elsewhere, made of that
// store.
type Sharing struct {
	Calls          Calls `json:"calls"`           // syncs, and claims of people who wait
	NewcomersCalls Calls `json:"newcomers_calls"` // claims of newcomers into an open room, and what goes with them
	FailedCalls    int   `json:"failed_calls"`    // of both, unanswered
	StoreFailures  int   `json:"store_failures"`
	NodeDeaths     int   `json:"node_deaths"`
	LostRequests   int   `json:"lost_requests"` // unanswered by a node that died
	LostRenewals   int   `json:"lost_renewals"` // accepted visitors whose last requests a node that died had not reported
}

// Calls are counted as the nodes send them.
type Calls struct {
	Total         int     `json:"total"`
	PerSecond     float64 `json:"per_second"`           // of all nodes
	MostPerSecond int     `json:"most_per_second"`      // of all nodes, in the busiest second
	PerNode       float64 `json:"per_second_per_node"`  // on average
	MostPerNode   int     `json:"most_per_second_node"` // of one node, in its busiest second
}

// sharing is nil for a single gate with its store inside.
func (r *run) sharing() *Sharing {
	if !r.shared() {
		return nil
	}
	one := traffic{}
	one.atLeast(&r.nodes.dead)
	for _, n := range r.nodes.list {
		if n != nil {
			one.atLeast(&n.traffic)
		}
	}
	seconds := r.now.Sub(start).Seconds()
	calls := func(all, node counter) Calls {
		perSecond := float64(all.total) / seconds
		return Calls{
			Total: all.total, PerSecond: perSecond, MostPerSecond: all.most,
			PerNode: perSecond / float64(len(r.nodes.list)), MostPerNode: node.most,
		}
	}
	s := r.nodes.lost
	s.Calls = calls(r.store.traffic.steady, one.steady)
	s.NewcomersCalls = calls(r.store.traffic.newcomers, one.newcomers)
	s.FailedCalls = r.store.failed
	return &s
}

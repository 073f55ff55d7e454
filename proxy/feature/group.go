package feature

import (
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// Group is a room of the configuration: one of its own, or a family with its rooms that there are
// now.
type Group struct {
	*metrics.Counters
	Setup *Setup
	Rooms []*Room
	Gone  Tally // of the family's rooms that were dropped
}

// Tally are the sums over rooms of what StoreErrors, Scores and Waits of their queues return.
type Tally struct {
	Unanswered, LetIn uint64
	GaveUp            uint64
	Score             estimate.Score
	Waited, Told      waits.Counter
}

// Add adds what a room returns.
func (t *Tally) Add(r *Room) {
	unanswered, letIn := r.Queue.StoreErrors()
	t.Unanswered += unanswered
	t.LetIn += letIn
	t.GaveUp += r.Queue.GaveUp()
	_, score := r.Queue.Scores()
	t.Score.Add(score)
	waited, told := r.Queue.Waits()
	t.Waited.Plus(&waited)
	t.Told.Plus(&told)
}

package simulate

import (
	"iter"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Visit is what became of one visitor.
type Visit struct {
	Arrived time.Duration // after the start, or, spoofed, after the first that could be
	Waited  time.Duration // until they were let in; 0 if they were not
	Outcome Outcome
	at      queue.Instant // when they were let in
}

// Outcome is how a visitor's wait ended.
type Outcome uint8

// The outcomes. The zero Outcome is that of bots: they keep no ticket, and go on asking.
const (
	StillWaiting Outcome = iota
	LetIn
	GaveUp
	Refused
)

// String returns the outcome as files have it.
func (o Outcome) String() string {
	return [...]string{StillWaiting: "still_waiting", LetIn: "let_in", GaveUp: "gave_up", Refused: "refused"}[o]
}

func newVisits(r *run) []Visit {
	visits := make([]Visit, len(r.crowd))
	for i := range visits {
		visits[i].Arrived = r.crowd[i].arrived.Sub(r.origin())
	}
	return visits
}

// Admissions are the visits of the people who were let in, in the order in which they came.
func (r *Result) Admissions() iter.Seq[Visit] { return admissions(r.Visits) }

func (m *measures) admissions() iter.Seq[Visit] { return admissions(m.visits) }

func admissions(visits []Visit) iter.Seq[Visit] {
	return func(yield func(Visit) bool) {
		for v := range slices.Values(visits) {
			if v.Outcome == LetIn && !yield(v) {
				return
			}
		}
	}
}

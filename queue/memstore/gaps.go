package memstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// gap is a time in which no gate ran.
type gap struct{ from, until queue.Instant }

func (g gap) length() time.Duration { return g.until.Sub(g.from) }

// gaps are the latest gaps, the oldest first.
type gaps []gap

// with returns the gaps and a later one, no more than queue.MaxGaps.
func (g gaps) with(last gap) gaps {
	g = append(slices.Clone(g), last)
	if len(g) > queue.MaxGaps {
		g[0].until = g[0].until.Add(g[1].length())
		g = slices.Delete(g, 1, 2)
	}
	return g
}

// ago returns the moment since which so much running time has passed.
func (g gaps) ago(span time.Duration, now queue.Instant) queue.Instant {
	at := now.Add(-span)
	for _, gap := range slices.Backward(g) {
		if gap.until <= at {
			break
		}
		at = at.Add(-gap.length())
	}
	return at
}

// restoreGaps takes up the gaps, and that the gate has not run since the last moment that the
// journal shows to be past. In a room that has never had an exact line nothing goes by running
// time.
func (r *room) restoreGaps(found *restored) {
	r.gaps = found.gaps
	last := gap{cmp.Or(found.latest, r.now), r.now}
	if r.line.numbers == (numbers{}) || last.length() <= queue.Silence {
		return
	}
	r.gaps = r.gaps.with(last)
	r.journal.gaps(r.gaps)
}

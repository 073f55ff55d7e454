//go:build !race

package cheats_test

import (
	"container/heap"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// life is somebody whom the origin has seen, and since when they wanted to get in.
type life struct {
	kind      *kind
	since, in time.Time
}

const (
	warmUp   = 2 * time.Minute
	measured = 5 * time.Minute // after it
	longest  = 3 * time.Minute // that somebody waits

	soonerBound = 3.  // seconds of admissions, on the average, in the methods that keep an order
	orderBound  = 10. // seconds of admissions by which a polite visitor is let in sooner or later than in order
)

// TestCheatsGainNoMoreThanIsStated holds each kind of cheat to the bounds of
// cmd/fairdoor/docs/cheating.md. The origin's log says who was in when.
func TestCheatsGainNoMoreThanIsStated(t *testing.T) {
	ofMethod := func(m queue.Method) queue.Settings {
		s := settings
		if s.Method = m; m.KeepsOrder() {
			s.Pacing = queue.PacingEven // so that seconds and admissions are the same measure
		}
		return s
	}
	const inRhythm = "random, slots that come free in a rhythm"
	rhythm := ofMethod(queue.Random)
	rhythm.TotalActiveUsers, rhythm.NewUsersPerMinute = 325, 1_000_000
	for name, s := range map[string]queue.Settings{
		"fifo": ofMethod(queue.FIFO), "line": ofMethod(queue.Line), "random": ofMethod(queue.Random), inRhythm: rhythm,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, all := newWorld(t, s), kinds()
			w.gather(all)
			w.run(warmUp)
			from := w.now()
			w.run(measured)
			lives := w.lives(all)
			for _, l := range lives {
				if !l.in.Before(from) {
					l.kind.won++
				}
			}
			odds, alwaysLucky := w.odds(from, lives)
			sooner := gained(lives, from, from.Add(measured-longest))
			for _, k := range all {
				t.Logf("%-45s %4d were let in, odds %.2f, sooner by %6.1f s", k.name, k.won, odds(k), mean(sooner[k]))
				bound := k.odds
				if name == inRhythm {
					bound *= moreInARhythm
					if k.knowsTheRhythm {
						bound = alwaysLucky
					}
				}
				switch {
				case k.odds == never:
					assert.Zero(t, k.won, k.name)
				case !s.Method.Draws():
					assert.Less(t, mean(sooner[k]), soonerBound, k.name)
				default:
					assert.Less(t, odds(k), bound, k.name)
				}
				if k.name == polite && !s.Method.Draws() {
					t.Logf("from %.1f s later to %.1f s sooner", -slices.Min(sooner[k]), slices.Max(sooner[k]))
					assert.Less(t, max(slices.Max(sooner[k]), -slices.Min(sooner[k])), orderBound)
				}
			}
			w.keptTheLimit(lives)
		})
	}
}

// gather has everybody come within a refresh interval.
func (w *world) gather(all []*kind) {
	w.stolen = w.ask(http.MethodGet, "/", "stolen", w.newAddress(), "", nil).ticket
	for _, k := range all {
		for range k.people {
			p := &person{kind: k}
			p.begin(w, w.upTo(settings.RefreshInterval))
			heap.Push(&w.next, p)
		}
	}
}

// lives are those whom the origin has seen, as they came.
func (w *world) lives(all []*kind) []life {
	of := map[string]*kind{}
	for _, k := range all {
		of[k.name] = k
	}
	var list []life
	for name, b := range w.begun {
		if in, seen := w.origin.seen[name]; seen {
			list = append(list, life{of[b.kind], b.since, in})
		}
	}
	slices.SortFunc(list, func(a, b life) int { return a.since.Compare(b.since) })
	return list
}

// odds are how often a kind was let in while it waited, where it is 1 for the polite. They are
// those of somebody who is always lucky who has a slot at each gate after each interval, and the
// least one each time.
func (w *world) odds(from time.Time, lives []life) (of func(*kind) float64, alwaysLucky float64) {
	waited := map[*kind]float64{}
	for _, l := range lives {
		if l.in.After(from) {
			waited[l.kind] += l.in.Sub(later(l.since, from)).Seconds()
		}
	}
	for _, p := range w.next {
		waited[p.kind] += w.now().Sub(later(p.since, from)).Seconds()
	}
	var politeRate float64
	for k := range waited {
		if k.name == polite {
			politeRate = float64(k.won) / waited[k]
		}
	}
	s := w.settings.WithDefaults()
	least, _, _ := s.Intervals()
	return func(k *kind) float64 { return float64(k.won) / waited[k] / politeRate }, gates / least.Seconds() / politeRate
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// gained is by how much those of each kind who came in a time were let in sooner than polite
// visitors who came with them: in seconds in which as many polite visitors were let in as they have
// overtaken.
func gained(lives []life, from, to time.Time) map[*kind][]float64 {
	var came, entered []time.Time
	for _, l := range lives {
		if l.kind.name == polite {
			came, entered = append(came, l.since), append(entered, l.in)
		}
	}
	slices.SortFunc(entered, time.Time.Compare)
	perSecond := float64(rank(entered, to)-rank(entered, from)) / to.Sub(from).Seconds()
	gains := map[*kind][]float64{}
	for _, l := range lives {
		if l.since.After(from) && l.since.Before(to) {
			gains[l.kind] = append(gains[l.kind], float64(rank(came, l.since)-rank(entered, l.in))/perSecond)
		}
	}
	return gains
}

// mean is 0 for nothing.
func mean(of []float64) (sum float64) {
	for _, x := range of {
		sum += x / float64(len(of))
	}
	return sum
}

// rank is how many of the times are before one.
func rank(times []time.Time, at time.Time) int {
	n, _ := slices.BinarySearchFunc(times, at, time.Time.Compare)
	return n
}

// keptTheLimit holds what was let in in each calendar minute to new_users_per_minute.
func (w *world) keptTheLimit(lives []life) {
	perMinute := map[time.Time]int{}
	for _, l := range lives {
		perMinute[l.in.Truncate(time.Minute)]++
	}
	assert.LessOrEqual(w.t, slices.Max(slices.Collect(maps.Values(perMinute))), w.settings.NewUsersPerMinute)
}

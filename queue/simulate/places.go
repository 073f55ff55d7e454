package simulate

import (
	"math"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/measure"
)

// places compares the people ahead that visitors are shown with those who wait and came
// earlier, by their own account. An error counts in seconds of admissions.
type places struct {
	before []int32 // the people ahead that each visitor was shown last; -1 for none
	errors []float64
	first  int // answers that said "first" to somebody who was not
	worse  int // answers that put somebody further back by more than ten seconds of admissions
}

func newPlaces(people int) places { return places{before: slices.Repeat([]int32{-1}, people)} }

// shown notes that visitor i is shown so many people ahead and not as many as is true,
// while so many are admitted in a second.
func (p *places) shown(i int32, people, truth int, perSecond float64) {
	p.errors = append(p.errors, math.Abs(float64(people)-float64(truth))/perSecond)
	if people == 0 && truth > 0 {
		p.first++
	}
	if last := p.before[i]; last >= 0 && float64(people-int(last)) > allowedError*perSecond {
		p.worse++
	}
	p.before[i] = int32(people)
}

// allowedError is by how many seconds of admissions a place may be wrong.
const allowedError = 10

func (p *places) result() *PlacesShown {
	if len(p.errors) == 0 {
		return nil
	}
	slices.Sort(p.errors)
	within, _ := slices.BinarySearch(p.errors, allowedError+1e-9)
	share := func(n int) float64 { return float64(n) / float64(len(p.errors)) }
	return &PlacesShown{
		Shown: len(p.errors), Within10s: share(within), ErrorP50: measure.Percentile(p.errors, .5), ErrorP95: measure.Percentile(p.errors, .95),
		WronglyFirst: p.first, Worse: share(p.worse),
	}
}

// notePlace notes the place that an answer of node n names to visitor i.
func (r *run) notePlace(n *node, i int32, v *visitor, place queue.Place) {
	numbers := n.room.Numbers()
	people, known := place.Ahead, place.Number != 0
	if !r.settings.Method.HasExactLine() {
		people, known = numbers.Ahead(v.ticket.ArrivedAt)
	}
	if known && numbers.Rate > 0 {
		r.places.shown(i, people, r.overtaking.Earlier(int(i)), numbers.Rate/60)
	}
}

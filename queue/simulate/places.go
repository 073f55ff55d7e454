package simulate

import (
	"math"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// places compares the people ahead that visitors are shown with those who left the line before
// them from then on: everybody who was let in, and those who had come earlier and gave up.
type places struct {
	last    []int32 // the number of each visitor's last answer, from 1 on; 0 for none
	answers []shownPlace
	unknown int // answers without a place
	first   int // answers that said "first" to somebody who was not
}

// shownPlace is an answer that names a place.
type shownPlace struct {
	before int32 // the number of the visitor's answer before it; 0 for none
	ahead  int32 // people, as shown
	stood  int32 // how the visitor stood: see standing
	left   int32 // people who left the line before the visitor; -1 if the visitor was not let in
}

func newPlaces(people int) places { return places{last: make([]int32, people)} }

// standing falls by one with everybody who leaves the line before visitor i.
func (r *run) standing(i int32) int32 {
	return int32(r.overtaking.Earlier(int(i)) - r.overtaking.Overtook(int(i)))
}

// notePlace notes the place that an answer of node n names to visitor i.
func (r *run) notePlace(n *node, i int32, v *visitor, place queue.Place) {
	people, known := place.Ahead, place.Number != 0
	if !r.settings.Method.HasExactLine() {
		people, known = n.room.Numbers().Ahead(v.ticket.ArrivedAt)
	}
	p := &r.places
	if !known {
		p.unknown++
		return
	}
	if people == 0 && r.overtaking.Earlier(int(i)) > 0 {
		p.first++
	}
	p.answers = append(p.answers, shownPlace{before: p.last[i], ahead: int32(people), stood: r.standing(i), left: -1})
	p.last[i] = int32(len(p.answers))
}

// admitted notes that a visitor who stands so is let in.
func (p *places) admitted(i, standing int32) {
	for number := p.last[i]; number != 0; {
		a := &p.answers[number-1]
		a.left, number = a.stood-standing, a.before
	}
}

// allowedError is by how many seconds of admissions a place may be wrong.
const allowedError = 10

// result is for so many admissions a second.
func (p *places) result(perSecond float64) *PlacesShown {
	res := &PlacesShown{Unknown: p.unknown, WronglyFirst: p.first}
	var first, all []float64
	for i := range p.answers {
		a := &p.answers[i]
		if a.before != 0 {
			res.note(float64(a.ahead-p.answers[a.before-1].ahead) / perSecond)
		}
		if a.left < 0 {
			continue
		}
		wrong := math.Abs(float64(a.ahead-a.left)) / perSecond
		if all = append(all, wrong); a.before == 0 {
			first = append(first, wrong)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	slices.Sort(first)
	res.Shown, res.Within10s, res.FirstWithin10s = len(all), within(all), within(first)
	res.ErrorP50, res.ErrorP95 = measure.Percentile(all, .5), measure.Percentile(all, .95)
	return res
}

// note notes by how many seconds of admissions an answer puts its visitor further back.
func (s *PlacesShown) note(back float64) {
	if back > 0 {
		s.Rose++
		s.MostRose = max(s.MostRose, back)
	}
}

// within is the share of errors, in order, that are allowed.
func within(errors []float64) float64 {
	n, _ := slices.BinarySearch(errors, allowedError+1e-9)
	return float64(n) / float64(max(1, len(errors)))
}

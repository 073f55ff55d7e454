package million_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// Targets.
const (
	mostProcessor = 30  // seconds of one core a minute
	mostMemory    = 400 // MiB
	mostStore     = 1   // ms of scripts a second
	leastTau      = .99 // of the orders of arrival and of admission
	leastPlaces   = .97 // of the places that are told
)

// tau is Kendall's of the orders of arrival and of admission, of those who never were absent.
func (s *sale) tau() float64 {
	var pairs []measure.Pair
	for at, i := range s.in {
		if s.crowd[i].back == 0 {
			pairs = append(pairs, measure.Pair{X: int64(i), Y: int64(at)})
		}
	}
	return measure.Kendall(pairs)
}

// late returns how many had their turn, and how many of these were let in later than by the interval
// that they had been told as it came. It also returns by how much the last was later than that.
func (s *sale) late() (turns, late int, most time.Duration) {
	for i, slot := range s.turns() {
		v, turn := &s.crowd[i], s.crowd[s.in[slot+bucket]].enters
		entered := v.enters
		switch {
		case v.left > s.crowd[s.in[slot]].enters: // they were not there to be let in
			entered = v.left
		case entered == 0: // they are not in yet
			entered = s.now
		}
		told := v.told
		if v.asked > turn {
			told = v.before
		}
		turns++
		if beyond := entered - turn - told - networkTakes; beyond > 0 {
			late++
			most = max(most, time.Duration(beyond)*time.Millisecond)
		}
	}
	return turns, late, most
}

// turns says which of the slots that were given is whose, if each goes to the first of those who are
// present. The line may give those of a bucket in any order: the last had their turn as late as that.
func (s *sale) turns() map[int32]int {
	type event struct{ at, who, more int32 }
	var events []event
	for i := range s.crowd {
		v, who := &s.crowd[i], int32(i)
		if v.phase == outside {
			break
		}
		events = append(events, event{v.arrives, who, 1})
		if v.left != 0 {
			events = append(events, event{v.left, who, -1})
		}
		if v.back != 0 {
			events = append(events, event{v.back, who, 1})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	turns, present, first := make(map[int32]int, len(s.in)), make([]bool, len(s.crowd)), int32(0)
	for at, slot := range s.in[:max(0, len(s.in)-bucket)] {
		now := s.crowd[slot].enters
		for ; len(events) > 0 && events[0].at <= now; events = events[1:] {
			e := events[0]
			if _, had := turns[e.who]; !had {
				present[e.who] = e.more > 0
				first = min(first, e.who)
			}
		}
		for int(first) < len(present) && !present[first] {
			first++
		}
		if int(first) < len(present) {
			present[first], turns[first] = false, at
		}
	}
	return turns
}

// tell prints a figure.
func tell(what, value string) { fmt.Printf("  %-62s %s\n", what, value) }

// judge prints a figure that has a target.
func judge(missed *int, what, value, target string, met bool) {
	verdict := "met"
	if !met {
		verdict = "MISSED"
		*missed++
	}
	tell(what, fmt.Sprintf("%s, target %s: %s", value, target, verdict))
}

// report prints what was measured. Figures of a part of a crowd are told for all of it, and have no
// targets.
func (s *sale) report(missed *int) {
	sum := time.Duration(0)
	for _, each := range s.perMin {
		sum += each
	}
	whole := float64(s.share)
	mean := whole * sum.Seconds() / float64(len(s.perMin))
	if s.share > 1 {
		tell(fmt.Sprintf("processor time a minute, times %d", s.share), fmt.Sprintf("%.1f s of a core", mean))
		tell(fmt.Sprintf("memory of the gate, times %d", s.share), fmt.Sprintf("%.0f MiB", whole*s.memory))
		return
	}
	judge(missed, "processor time a minute, that of the visitors included", fmt.Sprintf("%.1f s of a core", mean), fmt.Sprintf("≤ %d s", mostProcessor), mean <= mostProcessor)
	tell("… of the busiest", fmt.Sprintf("%.1f s", slices.Max(s.perMin).Seconds()))
	tell("… a request", fmt.Sprintf("%.1f µs", float64(sum.Microseconds())/float64(s.polls)))
	judge(missed, "memory of the gate", fmt.Sprintf("%.0f MiB", s.memory), fmt.Sprintf("≤ %d MiB", mostMemory), s.memory <= mostMemory)
	tau := s.tau()
	judge(missed, "Kendall's tau of arrival and admission", fmt.Sprintf("%.4f", tau), fmt.Sprintf("≥ %.2f", leastTau), tau >= leastTau)
	right := float64(s.near.right) / float64(max(s.near.told, 1))
	judge(missed, fmt.Sprintf("places within %d s of admissions, of those let in by the end", allowed), measure.Share(right), fmt.Sprintf("≥ %.0f %%", 100*leastPlaces), right >= leastPlaces)
	s.near.tell("… told to those let in by the end")
	s.far.tell("… told to others")
	turns, late, by := s.late()
	judge(missed, fmt.Sprintf("let in later than their turn and interval, of %s", measure.Grouped(turns)), fmt.Sprintf("%d, by %v at most", late, by), "0", late == 0)
}

// tell prints how many places were told, and how they were wrong.
func (p *places) tell(to string) {
	tell(to, fmt.Sprintf("%s, %s known; wrong by less than 1, 2, 4, 8 … s: %v", measure.Grouped(p.told), measure.Grouped(p.known), p.wrong[:10]))
}

package estimate

import (
	"cmp"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// cohorts are people by when they came, in order; no two overlap.
type cohorts []cohort

// cohort are people who came in an interval, evenly as far as is known.
type cohort struct {
	from, until queue.Instant
	people      int
	before      int // who came before them
}

// find is which is the first cohort that begins at a moment or later.
func (c cohorts) find(moment queue.Instant) int {
	i, _ := slices.BinarySearchFunc(c, moment, func(e cohort, at queue.Instant) int { return cmp.Compare(e.from, at) })
	return i
}

// add notes people who came in an interval, in the cohort that has its beginning or in one of their
// own. Most come later than all others.
func (c *cohorts) add(from, until queue.Instant, people int) {
	i := c.find(from + 1)
	if i > 0 && from < (*c)[i-1].until {
		i--
	} else {
		before := 0
		if i > 0 {
			before = (*c)[i-1].before + (*c)[i-1].people
		}
		*c = slices.Insert(*c, i, cohort{from: from, until: until, before: before})
	}
	(*c)[i].people += people
	for j := i + 1; j < len(*c); j++ {
		(*c)[j].before += people
	}
}

// merge puts together those of whom everybody is reported, a small part of all at most, and forgets
// those who came before all who wait. It returns from when on nobody is forgotten.
func (c *cohorts) merge(first, reported queue.Instant) (since queue.Instant) {
	merged, before, most := (*c)[:0], 0, c.people()/arrivalParts
	for _, e := range *c {
		last := len(merged) - 1
		switch {
		case e.until <= first:
			since = e.until
			continue
		case last >= 0 && e.until <= reported && merged[last].people+e.people <= most:
			merged[last].until, merged[last].people = e.until, merged[last].people+e.people
		default:
			e.before = before
			merged = append(merged, e)
		}
		before += e.people
	}
	*c = merged
	return since
}

// people is how many there are.
func (c cohorts) people() int {
	if len(c) == 0 {
		return 0
	}
	last := &c[len(c)-1]
	return last.before + last.people
}

// between is how many came from one moment to another.
func (c cohorts) between(from, until queue.Instant) float64 {
	if until <= from {
		return 0
	}
	return c.before(until) - c.before(from)
}

// before is how many came before a moment.
func (c cohorts) before(moment queue.Instant) float64 {
	i := c.find(moment)
	if i == 0 {
		return 0
	}
	e := &c[i-1]
	return float64(e.before) + float64(e.people)*min(1, float64(moment-e.from)/float64(e.until-e.from))
}

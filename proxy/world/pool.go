package world

import (
	"fmt"
	"math"
	"strings"
)

// pooled are promises about averages, which one history is too short to show. What is measured adds
// by how much something was beyond the bound, of which nothing is to be expected if the promise is
// kept, whatever came before, and the variance that it has then, as far as that is known.
var pooled = []struct {
	promise string
	measure func(h *History, add func(beyond, variance float64))
}{
	{"random: the same chance for everybody, not more for who came early", earlierChances},
	{"random: the same chance for everybody, not more for who came late", laterChances},
	{"random: asking more often gains little", oftenChances},
	{"fifo and line: asking more often gains nothing", oftenGains},
	{"waits that are told are not too short", waitsTooShort},
	{"waits that are told are not too long", waitsTooLong},
}

// tooFar is by how many standard deviations all histories together may be beyond a bound. The sums
// are a martingale M, for which
//
//	P(M >= x, [M]+<M> <= y) <= exp(-x²/2y)
//
// (Bercu and Touati 2008, theorem 2.1): a promise that is kept seems broken once in 10⁹ soaks.
const tooFar = 7

// Pool is what many histories show together. The zero Pool has none.
type Pool struct{ sums []sum } // of the promises of pooled

// sum is that of what was beyond the bound of a promise.
type sum struct {
	beyond, squares float64
	n               int
}

func (s *sum) add(beyond, variance float64) {
	*s = sum{s.beyond + beyond, s.squares + beyond*beyond + variance, s.n + 1}
}

// Add takes in a history.
func (p *Pool) Add(h *History) {
	if p.sums == nil {
		p.sums = make([]sum, len(pooled))
	}
	for i := range pooled {
		pooled[i].measure(h, p.sums[i].add)
	}
}

// deviations is by how many standard deviations the sum is beyond the bound.
func (s *sum) deviations() float64 {
	return s.beyond / max(math.Sqrt(s.squares), math.SmallestNonzeroFloat64)
}

// Check returns the promises that were not kept.
func (p *Pool) Check() (broken []string) {
	for i := range p.sums {
		if p.sums[i].deviations() > tooFar {
			broken = append(broken, p.tells(i))
		}
	}
	return broken
}

func (p *Pool) tells(i int) string {
	return fmt.Sprintf("%s: by %.1f standard deviations of %d, where %d are too many", pooled[i].promise, p.sums[i].deviations(), p.sums[i].n, tooFar)
}

// String tells how far all are from their bounds.
func (p *Pool) String() string {
	var lines []string
	for i := range p.sums {
		lines = append(lines, p.tells(i))
	}
	return strings.Join(lines, "\n")
}

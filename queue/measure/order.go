package measure

import (
	"cmp"
	"slices"
)

// Pair is one person's place in two orders.
type Pair struct{ X, Y int64 }

// Kendall returns the normalised Kendall tau of pairs: of all pairs of people
// who differ in both orders, the share in the same order less the share in the
// opposite one; 1 where no two differ. It sorts pairs, in O(n log n).
func Kendall(pairs []Pair) float64 {
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
	})
	total := choose2(len(pairs))
	tiedX := ties(pairs, func(a, b Pair) bool { return a.X == b.X })
	tiedBoth := ties(pairs, func(a, b Pair) bool { return a == b })
	opposite := inversions(pairs, make([]Pair, len(pairs)))
	tiedY := ties(pairs, func(a, b Pair) bool { return a.Y == b.Y }) // inversions has sorted by y
	differ := total - tiedX - tiedY + tiedBoth
	if differ == 0 {
		return 1
	}
	return 1 - 2*float64(opposite)/float64(differ)
}

func choose2(n int) int { return n * (n - 1) / 2 }

// ties counts the pairs of neighbours and their neighbours that are the same.
func ties(pairs []Pair, same func(a, b Pair) bool) int {
	total, run := 0, 0
	for i := range pairs {
		if i > 0 && same(pairs[i-1], pairs[i]) {
			run++
		} else {
			run = 0
		}
		total += run
	}
	return total
}

// inversions sorts pairs by y and counts those that were the wrong way round.
func inversions(pairs, spare []Pair) int {
	if len(pairs) < 2 {
		return 0
	}
	half := len(pairs) / 2
	left, right := pairs[:half], pairs[half:]
	n := inversions(left, spare) + inversions(right, spare)
	merged := spare[:0]
	for len(left) > 0 && len(right) > 0 {
		if right[0].Y < left[0].Y {
			n += len(left)
			merged, right = append(merged, right[0]), right[1:]
		} else {
			merged, left = append(merged, left[0]), left[1:]
		}
	}
	merged = append(merged, left...)
	copy(pairs, append(merged, right...))
	return n
}

package simulate

import (
	"cmp"
	"slices"
)

// pair is one person's place in two orders.
type pair struct{ x, y int64 }

// kendall returns the normalised Kendall tau of pairs: of all pairs of people
// who differ in both orders, the share in the same order less the share in the
// opposite one; 1 where no two differ. It sorts pairs, in O(n log n).
func kendall(pairs []pair) float64 {
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
	})
	total := choose2(len(pairs))
	tiedX := ties(pairs, func(a, b pair) bool { return a.x == b.x })
	tiedBoth := ties(pairs, func(a, b pair) bool { return a == b })
	opposite := inversions(pairs, make([]pair, len(pairs)))
	tiedY := ties(pairs, func(a, b pair) bool { return a.y == b.y }) // inversions has sorted by y
	differ := total - tiedX - tiedY + tiedBoth
	if differ == 0 {
		return 1
	}
	return 1 - 2*float64(opposite)/float64(differ)
}

func choose2(n int) int { return n * (n - 1) / 2 }

// ties counts the pairs of neighbours and their neighbours that are the same.
func ties(pairs []pair, same func(a, b pair) bool) int {
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
func inversions(pairs, spare []pair) int {
	if len(pairs) < 2 {
		return 0
	}
	half := len(pairs) / 2
	left, right := pairs[:half], pairs[half:]
	n := inversions(left, spare) + inversions(right, spare)
	merged := spare[:0]
	for len(left) > 0 && len(right) > 0 {
		if right[0].y < left[0].y {
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

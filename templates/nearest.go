package templates

import "strings"

// nearest is the name that was probably meant by one that does not exist, or
// "" if none is near. Letter case counts for nothing, and one letter in three
// may differ, up to three.
func nearest(name string, names []string) string {
	best, least := "", min(len(name)/3, 3)+1
	for _, candidate := range names {
		if abs(len(candidate)-len(name)) >= least {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is the number of letters to change, add or take away to make one
// name of the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func abs(n int) int {
	return max(n, -n)
}

// Package spelling finds the word that was probably meant by one that does not exist.
package spelling

import (
	"strings"
	"unicode"
)

// Nearest is the candidate that differs from what was written only in spelling (case, dashes), is at most a third of its letters
// and at most three away, or begins with it, or else it with the candidate; "" for none. Of equals the first wins.
func Nearest(written string, candidates []string) string {
	if written == "" || len(written) > 64 {
		return ""
	}
	plain := squash(written)
	best, least := "", min(len(plain)/3, 3)+1
	for _, c := range candidates {
		if squash(c) == plain {
			return c
		}
		if d := Distance(plain, squash(c)); d < least {
			best, least = c, d
		}
	}
	if best != "" || len(plain) < 2 {
		return best
	}
	for _, c := range candidates {
		if s := squash(c); strings.HasPrefix(s, plain) || len(s) >= 4 && strings.HasPrefix(plain, s) {
			return c
		}
	}
	return ""
}

// squash takes away what people vary in writing the same name.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// Distance is the number of letters to insert, delete, replace or swap with their neighbour to get from a to b.
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

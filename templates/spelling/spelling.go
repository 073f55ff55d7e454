// Package spelling finds the name that is nearest to a misspelt one.
package spelling

import (
	"strings"
	"unicode"
)

const (
	// maxLetters is the length of the longest word that is compared.
	maxLetters = 64
	// maxMistakes is how many mistakes a word may have, however long it is.
	maxMistakes = 3
)

// Nearest returns the name whose spelling is nearest to the written word, or "" if none is
// near. Letter case, dashes, underscores and blanks do not count. Besides, a word may have
// one mistake for each three of its letters, at most three. If no name is as near as that,
// Nearest returns the first name that begins with the word, or that the word begins with.
// Of equally near names it returns the first.
func Nearest(written string, names []string) string {
	if len(written) > maxLetters {
		return ""
	}
	if name := Misspelt(written, names); name != "" {
		return name
	}
	return continued(plainOf(written), names)
}

// Misspelt is Nearest without the names that begin with the word, or that the word begins with.
func Misspelt(written string, names []string) string {
	if len(written) > maxLetters {
		return ""
	}
	plain := plainOf(written)
	nearest, fewest := "", min(len(plain)/3, maxMistakes)+1
	for _, name := range names {
		if mistakes := Distance(plain, plainOf(name)); mistakes < fewest {
			nearest, fewest = name, mistakes
		}
	}
	return nearest
}

// continued returns the first name that begins with the word, or that the word begins with.
func continued(plain string, names []string) string {
	const fewestWritten, fewestOfName = 2, 4 // fewer letters would fit too many names
	for _, name := range names {
		n := plainOf(name)
		if len(plain) >= fewestWritten && strings.HasPrefix(n, plain) || len(n) >= fewestOfName && strings.HasPrefix(plain, n) {
			return name
		}
	}
	return ""
}

// plainOf returns the word in lower case, without dashes, underscores and blanks: people write
// the same name with them and without.
func plainOf(word string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- ", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}

// Distance is how many letters have to be inserted, deleted, replaced or swapped with their
// neighbour to turn a into b (the optimal string alignment distance).
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

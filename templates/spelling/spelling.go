// Package spelling finds the name that somebody meant who misspelt it.
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

// Nearest returns the name that is spelt most like the written word, or "" if
// none is near. Letter case, dashes, underscores and blanks count for nothing;
// beyond these a word may have one mistake for each three of its letters, at
// most three. If no name is as near as that, the first counts that begins with
// the word, or that the word begins with. Of equally near names the first wins.
func Nearest(written string, names []string) string {
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
	if nearest == "" {
		return continued(plain, names)
	}
	return nearest
}

// continued returns the first name that begins with the word, or that the word
// begins with. Fewer letters would fit too many.
func continued(plain string, names []string) string {
	const fewestWritten, fewestOfName = 2, 4
	for _, name := range names {
		n := plainOf(name)
		if len(plain) >= fewestWritten && strings.HasPrefix(n, plain) || len(n) >= fewestOfName && strings.HasPrefix(plain, n) {
			return name
		}
	}
	return ""
}

// plainOf returns the word without what people vary when they write the same
// name: in lower case, without dashes, underscores and blanks.
func plainOf(word string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- ", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}

// Distance counts the letters to insert, to delete, to replace, or to swap with
// their neighbour, that turn a into b (the optimal string alignment distance).
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

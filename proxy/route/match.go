package route

import (
	"iter"
	"strings"
)

// first returns the index of the most specific entry that covers the path, or
// len(entries).
func first(entries []entry, path string) int {
	for i := range entries {
		if entries[i].covers(path) {
			return i
		}
	}
	return len(entries)
}

// only returns the index of the one entry that guards a path, or len(entries), if
// it is known without more ado: that of a path with one reading, and of one with
// nothing odd but parameters. No room's path has any, so that what is left
// without them lies wherever the path itself does; but braces can stand for them.
func only(entries []entry, path string) (i int, known bool) {
	if isPlain(path) {
		return first(entries, path), true
	}
	bare := cutParams(path)
	if !isPlain(bare) || !isPlain(strings.ReplaceAll(path, ";", "-")) {
		return 0, false
	}
	i = first(entries, bare)
	return i, !braced(entries, i) && !braced(entries, first(entries, path))
}

func braced(entries []entry, i int) bool { return i < len(entries) && entries[i].value > 0 }

// hits yields the index of the most specific entry of every reading of a path
// that is not plain, with that reading; and every entry, with none, when the path
// is ambiguous. ok is false if it is known to be. An index may come more than
// once.
func hits(entries []entry, path string, ok bool) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var readings []string
		if ok {
			readings, ok = expand(path)
		}
		if !ok {
			for i := range entries {
				if !yield(i, "") {
					return
				}
			}
			return
		}
		for _, reading := range readings {
			folded := reading
			if !isASCII(reading) {
				folded = fold(reading)
			}
			if i := first(entries, folded); i < len(entries) && !yield(i, reading) {
				return
			}
		}
	}
}

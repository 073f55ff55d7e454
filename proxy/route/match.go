package route

import (
	"iter"
	"strings"
)

// first returns the index of the most specific entry that covers the path, or
// len(entries) if none does.
func first(entries []entry, path string) int {
	for i := range entries {
		if entries[i].covers(path) {
			return i
		}
	}
	return len(entries)
}

// unambiguous returns the index of the entry that guards a path, or len(entries), for a path
// whose readings need not be listed: one that is the only reading of itself, and one with
// nothing odd but parameters. No room's path has parameters, so such a path is in the same
// room with them and without, unless braces stand for a segment with parameters. But it
// may be in another one if it ends at the first of them.
func unambiguous(entries []entry, path string) (i int, known bool) {
	if isPlain(path) {
		return first(entries, path), true
	}
	bare := cutParams(path)
	if !isPlain(bare) || !isPlain(strings.ReplaceAll(path, ";", "-")) {
		return 0, false
	}
	i = first(entries, bare)
	end := first(entries, path[:strings.IndexByte(path, ';')])
	return i, i == end && !braced(entries, i) && !braced(entries, first(entries, path))
}

func braced(entries []entry, i int) bool { return i < len(entries) && entries[i].value > 0 }

// covering yields, for each reading of a path that is not plain, the index of the most
// specific entry that covers it, and the reading. For an ambiguous path it yields every
// entry, with "" for the reading; ok is false if the path is known to be ambiguous. An
// index may come more than once.
func covering(entries []entry, path string, ok bool) iter.Seq2[int, string] {
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

package route

import "iter"

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

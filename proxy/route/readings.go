package route

import (
	"slices"
	"strings"
)

const (
	maxReadings     = 64
	maxReadingBytes = 64 << 10 // of all readings together: bounds the work
	maxDecodings    = 2
)

// Readings returns every way in which an origin might read the path of a request target,
// without the query, in the letter case in which it came. The first is the path as it came,
// except that escapes that a path cannot do without are decoded. ok is false if the target
// is ambiguous; the readings are then not all.
func Readings(target string) (paths []string, ok bool) {
	path, ok := pathOf(target)
	if !ok {
		return nil, false
	}
	if isPlain(path) {
		return []string{path}, true
	}
	return expand(path)
}

// expand applies the steps of reading until they yield nothing new. It applies those that
// decode nothing, then decodes every reading once, and starts over.
func expand(path string) ([]string, bool) {
	e := expansion{ok: true}
	e.add(unescape(path, mustBeEscaped))
	e.close(0)
	done := 0
	for range maxDecodings {
		end := len(e.paths)
		for i := done; i < end; i++ {
			e.add(decode(e.paths[i], true))
			e.add(decode(e.paths[i], false))
		}
		e.close(end)
		done = end
	}
	return e.paths, e.ok
}

// expansion is a growing set of readings.
type expansion struct {
	paths []string
	bytes int
	ok    bool
}

// close applies the steps that decode nothing to the readings from the index on, and to
// the readings that they yield.
func (e *expansion) close(from int) {
	for i := from; i < len(e.paths) && e.ok; i++ {
		path := e.paths[i]
		e.add(resolveDots(path))
		e.add(mergeSlashes(path))
		e.add(cutParams(path))
		e.add(strings.ReplaceAll(path, `\`, "/"))
		e.add(dropHost(path))
		e.add(trimSpace(path))
		e.add(trimDots(path))
		e.add(trimNames(path))
		for _, end := range []string{"\x00", ";", "#", "?"} {
			before, _, _ := strings.Cut(path, end)
			e.add(before)
		}
	}
}

func (e *expansion) add(path string) {
	if path == "" {
		path = "/"
	}
	if !e.ok || slices.Contains(e.paths, path) {
		return
	}
	e.bytes += len(path)
	if len(e.paths) == maxReadings || e.bytes > maxReadingBytes || disputed(path) {
		e.ok = false
		return
	}
	e.paths = append(e.paths, path)
}

// Package caches keeps answers out of caches, by their headers.
package caches

import (
	"iter"
	"net/http"
	"strings"
)

// Header values that answers share; net/http does not change them.
var (
	noStore     = []string{"no-store"}
	privateOnly = []string{"private"}
)

// KeepFromAll keeps an answer out of all caches: those that go by Cache-Control, and
// those of networks and servers that have a field of their own, which they prefer to it.
// If the origin's Cache-Control already forbids storing, it stays as it is.
func KeepFromAll(h http.Header) {
	if !ForbidStoring(h["Cache-Control"]) {
		h.Set("Cache-Control", "private, no-store")
	}
	keepFromSingleCaches(h)
}

// KeepFromShared keeps an answer out of the caches that serve several visitors, and leaves browsers
// what the origin allows them. An answer that the origin calls immutable (RFC 8246) stays as it is:
// that is said of scripts, styles and pictures with a name of their own, which nobody has to wait
// for.
func KeepFromShared(h http.Header) {
	if len(h["Cache-Control"]) == 0 {
		h["Cache-Control"] = privateOnly
		keepFromSingleCaches(h)
		return
	}
	kept := []string{"private"}
	for _, line := range h["Cache-Control"] {
		for directive := range directives(line) {
			name, _, _ := strings.Cut(strings.ToLower(directive), "=")
			switch name {
			case "immutable":
				return
			case "", "public", "private", "s-maxage", "proxy-revalidate":
			default:
				kept = append(kept, directive)
			}
		}
	}
	if !ForbidStoring(h["Cache-Control"]) {
		h["Cache-Control"] = []string{strings.Join(kept, ", ")}
	}
	keepFromSingleCaches(h)
}

// keepFromSingleCaches has the fields for single kinds of cache, where there are any, say that
// nothing is stored.
func keepFromSingleCaches(h http.Header) {
	for name := range h {
		if last := name[max(0, len(name)-1):]; !strings.EqualFold(last, "l") && !strings.EqualFold(last, "s") {
			continue // each of the fields below ends so
		}
		switch lower := strings.ToLower(name); {
		case lower == "cache-control":
		case lower == "x-accel-expires": // nginx: seconds
			h[name] = []string{"0"}
		case lower == "x-litespeed-cache-control": // knows no no-store
			h[name] = []string{"no-cache"}
		case lower == "surrogate-control", lower == "edge-control", strings.HasSuffix(lower, "cache-control"):
			// The last are RFC 9213's: CDN-Cache-Control, Cloudflare-CDN-Cache-Control and the
			// like.
			h[name] = noStore
		}
	}
}

// ForbidStoring says whether Cache-Control has the directive no-store without
// must-understand, which would override it (RFC 9111, section 5.2.2.3).
func ForbidStoring(lines []string) bool {
	found := false
	for _, line := range lines {
		for directive := range directives(line) {
			switch strings.ToLower(directive) {
			case "no-store":
				found = true
			case "must-understand":
				return false
			}
		}
	}
	return found
}

// directives yields the elements of a list, in which commas between quotes end none.
func directives(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i < len(line); i++ {
			switch {
			case quoted && line[i] == '\\':
				i++
			case line[i] == '"':
				quoted = !quoted
			case line[i] == ',' && !quoted:
				if !yield(strings.TrimSpace(line[start:i])) {
					return
				}
				start = i + 1
			}
		}
		yield(strings.TrimSpace(line[start:]))
	}
}

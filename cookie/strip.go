package cookie

import (
	"net/http"
	"strings"
)

// Strip removes all our cookies, of all rooms, from the Cookie header lines of a request. It
// removes a line, and the header, if nothing else is left in it. All other cookies stay as
// they came, byte for byte.
//
// Strip changes the header's Cookie lines in place: the caller must own them.
func Strip(header http.Header) {
	lines := header["Cookie"]
	if !anyOurs(lines) {
		return
	}
	kept := lines[:0]
	for _, line := range lines {
		rest := stripLine(line)
		if rest == line || strings.Trim(rest, "; \t") != "" {
			kept = append(kept, rest)
		}
	}
	clear(lines[len(kept):])
	if len(kept) == 0 {
		delete(header, "Cookie")
		return
	}
	header["Cookie"] = kept
}

func anyOurs(lines []string) bool {
	for _, line := range lines {
		if strings.Contains(line, namePrefix) {
			return true
		}
	}
	return false
}

// stripLine returns the line without our cookies. It works on the text, because net/http
// would not write the other cookies as they came. With a cookie goes the semicolon before
// it; at the line's beginning, where there is none, the semicolon after it and the white
// space that follows. stripLine copies only if other cookies are on both sides of ours.
func stripLine(line string) string {
	var kept remainder
	for at := 0; at <= len(line); {
		end := len(line)
		if i := strings.IndexByte(line[at:], ';'); i >= 0 {
			end = at + i
		}
		if !isOurs(line[at:end]) {
			kept.add(line, at, end)
		}
		at = end + 1
	}
	return kept.rest(line)
}

// remainder collects what is kept of a line: one run of it as long as there is only one,
// else a copy.
type remainder struct {
	from, to int  // the run
	begun    bool // whether anything is kept
	copied   strings.Builder
}

func (r *remainder) add(line string, at, end int) {
	switch {
	case !r.begun:
		// This is the first cookie that is kept. If ours were before it, the white space
		// after them goes with them.
		for at > 0 && at < end && (line[at] == ' ' || line[at] == '\t') {
			at++
		}
		r.from, r.to, r.begun = at, end, true
	case r.copied.Len() > 0:
		r.copied.WriteString(line[at-1 : end])
	case at-1 == r.to:
		r.to = end
	default:
		r.copied.Grow(len(line))
		r.copied.WriteString(line[r.from:r.to])
		r.copied.WriteString(line[at-1 : end])
	}
}

func (r *remainder) rest(line string) string {
	if r.copied.Len() > 0 {
		return r.copied.String()
	}
	return line[r.from:r.to]
}

// isOurs reports whether the text between two semicolons is a cookie of ours.
func isOurs(cookie string) bool {
	// Line ends cannot come over the wire; net/http would trim them, too.
	name := strings.TrimLeft(cookie, " \t\r\n")
	name = strings.TrimPrefix(name, hostPrefix)
	return strings.HasPrefix(name, namePrefix)
}

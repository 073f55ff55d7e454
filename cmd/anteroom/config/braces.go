package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// inBraces is a segment of a path that stands for any.
var inBraces = regexp.MustCompile(`^\{[A-Za-z0-9_-]+\}$`)

// checkBraces says what is wrong with the braces of a path, "" for nothing.
func checkBraces(path string) string {
	segments, found := strings.Split(path, "/"), 0
	for i, segment := range segments {
		switch {
		case inBraces.MatchString(segment):
			if found++; found > 1 {
				return "has braces twice: one segment tells the rooms apart"
			}
		case strings.ContainsAny(segment, "{}"):
			return braceProblem(segments, i)
		}
	}
	return ""
}

// braceProblem says what is wrong with the braces of one segment.
func braceProblem(segments []string, i int) string {
	before, rest, opened := strings.Cut(segments[i], "{")
	name, _, _ := strings.Cut(rest, "}")
	problem := "has braces in the middle of a segment: they stand for a whole one"
	switch {
	case opened != strings.Contains(segments[i], "}"):
		problem = "has one brace without the other"
	case !inBraces.MatchString("{" + name + "}"):
		return "has braces that hold no name: letters, digits, - and _, as in {id}"
	}
	meant := slices.Clone(segments[:i])
	if before = strings.TrimRight(before, "-_.~="); before != "" {
		meant = append(meant, before)
	}
	meant = append(append(meant, "{"+name+"}"), segments[i+1:]...)
	if path := strings.Join(meant, "/"); opened && checkPath(path) == "" {
		problem += fmt.Sprintf(" (did you mean %q?)", path)
	}
	return problem
}

// braces is the segment of a path that is in braces, "" for none.
func braces(path string) string {
	for segment := range strings.SplitSeq(path, "/") {
		if inBraces.MatchString(segment) {
			return segment
		}
	}
	return ""
}

// family checks what is said of a room for each value against its path.
func (r *room) family() {
	if !r.fine("path") || braces(r.dst.Path) != "" {
		return
	}
	for _, name := range []string{"max_rooms", "room_idle"} {
		if r.given(name) {
			r.fault(r.place(name), "is about a room for each value: the path has no segment in braces, such as /room/{id}")
		}
	}
}

// sameBraces checks a further route's path against the room's first.
func (r *room) sameBraces(route Route, s *scope[Route]) {
	if !r.fine("path") || !s.fine("path") {
		return
	}
	switch want := braces(r.dst.Path); {
	case braces(route.Path) == want:
	case want == "":
		s.fault(s.place("path"), "%s has braces, and the room's own path, %s, has none", show(route.Path), show(r.dst.Path))
	default:
		s.fault(s.place("path"), "%s does not tell which room: like the room's own path it needs a segment %s", show(route.Path), want)
	}
}

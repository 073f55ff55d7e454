package route

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// inBraces matches a segment of a path that stands for any other.
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
	suggested := slices.Clone(segments[:i])
	if before = strings.TrimRight(before, "-_.~="); before != "" {
		suggested = append(suggested, before)
	}
	suggested = append(append(suggested, "{"+name+"}"), segments[i+1:]...)
	if path := strings.Join(suggested, "/"); opened && CheckPath(path) == "" {
		problem += fmt.Sprintf(" (did you mean %q?)", path)
	}
	return problem
}

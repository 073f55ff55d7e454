package templates

import (
	"regexp"
	"strings"
)

// squeeze removes indentation, and lines that are a comment, from a style sheet or a script, so
// that comments cost visitors nothing.
func squeeze(source string) string {
	var lines []string
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		comment := strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") && strings.HasSuffix(line, "*/")
		if line != "" && !comment {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// squeezeStyle also removes the white space that means nothing in a style sheet whose lines
// end in braces and semicolons, as ours do.
func squeezeStyle(source string) string {
	return strings.NewReplacer(
		"\n", "", " { ", "{", " {", "{", "; }", "}", ": ", ":", "; ", ";", ", ", ",",
	).Replace(squeeze(source))
}

var aroundPunctuation = regexp.MustCompile(` ?([-=(){}\[\],;:?<>&|+*/!])[ \n]?`)

// squeezeScript also removes the white space around punctuation. That is right for a script
// like ours: it ends all its statements, its strings are in single quotes and have no
// escaped ones, and its regular expressions have no blanks.
func squeezeScript(source string) string {
	parts := strings.Split(squeeze(source), "'")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = aroundPunctuation.ReplaceAllString(parts[i], "$1")
	}
	return strings.Join(parts, "'")
}

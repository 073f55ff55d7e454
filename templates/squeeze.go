package templates

import (
	"regexp"
	"strings"
)

// squeeze takes indentation and the lines that hold nothing but a comment out
// of a style sheet or a script, so that explaining them costs visitors nothing.
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

// squeezeStyle also takes out the white space that means nothing in a style
// sheet that ends its lines in braces and semicolons, as ours does.
func squeezeStyle(source string) string {
	return strings.NewReplacer(
		"\n", "", " { ", "{", " {", "{", "; }", "}", ": ", ":", "; ", ";", ", ", ",",
	).Replace(squeeze(source))
}

var aroundPunctuation = regexp.MustCompile(` ?([-=(){}\[\],;:?<>&|+*/!])[ \n]?`)

// squeezeScript also takes out the white space around punctuation in a script
// that ends all its statements, writes its strings in single quotes, without
// escaped ones, and has no blanks in regular expressions, as ours does.
func squeezeScript(source string) string {
	parts := strings.Split(squeeze(source), "'")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = aroundPunctuation.ReplaceAllString(parts[i], "$1")
	}
	return strings.Join(parts, "'")
}

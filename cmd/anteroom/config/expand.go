package config

import (
	"fmt"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces each ${NAME} by the environment variable of that name, and each $$ by a dollar sign. A dollar sign that begins
// neither stays. It says whether anything was replaced; problem is "" or what is wrong, without any variable's value.
func expand(s string, env func(string) (string, bool)) (out string, changed bool, problem string) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "$")
		b.WriteString(before)
		if !found {
			return b.String(), changed, ""
		}
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			s, changed = rest[1:], true
		case strings.HasPrefix(rest, "{"):
			m := variable.FindStringSubmatch("$" + rest)
			if m == nil {
				return "", false, "has a ${ that names no variable: only ${NAME} is understood, and $$ for a dollar sign"
			}
			val, ok := "", false
			if env != nil {
				val, ok = env(m[1])
			}
			if !ok {
				return "", false, fmt.Sprintf("names the environment variable %s, which is not set", m[1])
			}
			b.WriteString(val)
			s, changed = rest[len(m[0])-1:], true
		default:
			b.WriteByte('$')
			s = rest
		}
	}
}

package templates

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
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

var (
	declares = regexp.MustCompile(`(?m)^ *(?:const|let) .*[,;{]$`)
	declared = regexp.MustCompile(`(?:const|let|,) (\w+)`)
	takes    = regexp.MustCompile(`\(([\w, ]+)\) =>|(\w+) =>|\(const (\w+) `)
	named    = regexp.MustCompile(`[A-Za-z_$][\w$]*`)
	pieces   = regexp.MustCompile(`(?m)^[^\s}].*\n(?:(?: .*|\}.*|)\n)*`)
)

// shorten gives the names that a script declares shorter ones. One that an object is made of, or
// taken apart by, is the name of a property too, and stays. That is right for a script like ours, in
// whose objects such names are the first or the last, whose statements end in a semicolon or a
// brace, and whose indented lines are within a function.
func shorten(source string) string {
	var script []string
	all := map[string]bool{}
	statements := pieces.FindAllString(strings.TrimSpace(source)+"\n", -1)
	for _, statement := range statements {
		script = append(script, squeezeScript(statement))
		for _, line := range declares.FindAllString(statement, -1) {
			if strings.HasPrefix(line, "const ") || strings.HasPrefix(line, "let ") {
				addDeclared(all, line)
			}
		}
	}
	short := shorter(strings.Join(script, "\n"), all)
	for i, statement := range statements {
		script[i] = renamed(script[i], short)
		own := map[string]bool{}
		for _, line := range declares.FindAllString(statement, -1) {
			addDeclared(own, line)
		}
		for _, m := range takes.FindAllStringSubmatch(statement, -1) {
			for _, name := range named.FindAllString(m[1]+" "+m[2]+" "+m[3], -1) {
				own[name] = true
			}
		}
		for name := range all {
			delete(own, name)
		}
		script[i] = renamed(script[i], shorter(script[i], own))
	}
	return strings.Join(script, "")
}

// addDeclared adds the names that a line declares.
func addDeclared(to map[string]bool, line string) {
	for _, at := range declared.FindAllStringSubmatchIndex(line, -1) {
		if after := line[at[3]:]; after[0] == ',' || after[0] == ';' || strings.HasPrefix(after, " =") {
			to[line[at[2]:at[3]]] = true
		}
	}
}

// shorter finds shorter names for those of a script's that are its own. The more often one stands
// there, the shorter.
func shorter(script string, own map[string]bool) map[string]string {
	uses, shared := map[string]int{}, map[string]bool{}
	for i, part := range strings.Split(script, "'") { // every second part is a string
		if i%2 == 0 {
			eachName(part, func(name string, _, both bool) string {
				uses[name]++
				shared[name] = shared[name] || both
				return name
			})
		}
	}
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b)) })
	short, n := map[string]string{}, 0
	for _, name := range names {
		for own[name] && !shared[name] && len(name) > 1 && short[name] == "" {
			if next := shortName(n); uses[next] == 0 {
				short[name] = next
			}
			n++
		}
	}
	return short
}

// renamed is a script with other names for its variables.
func renamed(script string, names map[string]string) string {
	parts := strings.Split(script, "'")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = eachName(parts[i], func(name string, ofObject, _ bool) string {
			if ofObject {
				return name
			}
			return cmp.Or(names[name], name)
		})
	}
	return strings.Join(parts, "'")
}

// eachName replaces each name of a part of a script. A name is one of an object, or may be that and a
// variable's at once.
func eachName(script string, by func(name string, ofObject, shared bool) string) string {
	var b strings.Builder
	from := 0
	for _, at := range named.FindAllStringIndex(script, -1) {
		before, after := script[:at[0]], script[at[1]:]
		opens, follows := strings.HasSuffix(before, "{"), strings.HasSuffix(before, ",")
		ofObject := (opens || follows) && strings.HasPrefix(after, ":") || strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "...")
		shared := opens && strings.HasPrefix(after, ",") || (opens || follows) && strings.HasPrefix(after, "}")
		b.WriteString(script[from:at[0]])
		b.WriteString(by(script[at[0]:at[1]], ofObject, shared))
		from = at[1]
	}
	b.WriteString(script[from:])
	return b.String()
}

// shortName is the n-th of the names with one letter, or two.
func shortName(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n < len(letters) {
		return letters[n : n+1]
	}
	return letters[n/len(letters)-1:][:1] + letters[n%len(letters):][:1]
}

package admin

import (
	"encoding/json"
	"strings"
	"unicode"
)

// longestLabel is how long a label may be, in characters.
const longestLabel = 80

// LabelOf is by what operators recognise a visitor, of whom the site says this: it is the text, the
// name in an object, or else the data itself. It is one line, without what cannot be seen, and cut
// if it is long.
func LabelOf(note string) string {
	text := note
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal([]byte(note), &text) != nil && json.Unmarshal([]byte(note), &named) == nil && named.Name != "" {
		text = named.Name
	}
	var b strings.Builder
	length := 0
	for _, r := range text {
		if !unicode.IsPrint(r) {
			continue
		}
		if length++; length > longestLabel {
			return b.String() + "…"
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

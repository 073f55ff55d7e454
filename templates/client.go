package templates

import (
	"fmt"
	"html"
	"strings"
)

// client is the script that keeps a page up to date, in the words of a language.
type client struct {
	words  string // attributes with what the script says
	script string
	own    bool // of a page of the room's own
}

// tag is what {{{client}}} puts into a page in the state d, which has to be resolved: what the
// script goes by, the script, and in a page of the room's own a reload for browsers without
// script. The answer to a form has none of it: it is no page to stay on.
func (c client) tag(d Data, o own) string {
	if d.NotSent {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="fairdoor" hidden data-room="%s" data-refresh="%v" data-left="%v"%s></div>`,
		html.EscapeString(d.RoomName), o.refresh, o.refreshLeft, c.words)
	if c.own && d.Refreshes() {
		fmt.Fprintf(&b, "\n"+`<noscript><meta http-equiv="refresh" content="%v; url=%s"></noscript>`, o.refreshLeft, o.address)
	}
	fmt.Fprintf(&b, "\n<script>%s</script>", c.script)
	return b.String()
}

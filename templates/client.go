package templates

import (
	"fmt"
	"html"
	"strings"
)

// client is the script that keeps a page up to date, in the words of a language.
type client struct {
	words  string // attributes with what the script says, which the body of a built-in page has
	calls  string // attributes for the part of it that asks to be called; "" where nobody is
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
	if c.own {
		far := ""
		if d.Far {
			far = "1"
		}
		fmt.Fprintf(&b, `<div id="fairdoor" hidden data-room="%s" data-refresh="%v" data-left="%v" data-far="%s"%s></div>`+"\n",
			html.EscapeString(d.RoomName), o.refresh, o.refreshLeft, far, c.words)
	}
	if c.calls != "" {
		fmt.Fprintf(&b, `<div id="calls" hidden%s></div>`+"\n", c.calls)
	}
	if c.own && d.Refreshes() {
		fmt.Fprintf(&b, `<noscript><meta http-equiv="refresh" content="%v; url=%s"></noscript>`+"\n", o.refreshLeft, o.address)
	}
	script := c.script
	if d.Event.Prequeueing {
		script += countScript()
	}
	fmt.Fprintf(&b, "<script>%s</script>", script)
	return b.String()
}

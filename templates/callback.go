package templates

import (
	"html"
	"strings"
)

// Pages of rooms that call their visitors back have a longer script, and the browsers of those
// visitors a service worker.

// calling is what the clients of all languages are with the part of the script that asks to be
// called, and the public key for it.
func (b *builtInPages) calling(key string) map[string]*client {
	clients := make(map[string]*client, len(b.clients))
	for code, c := range b.clients {
		calls := " data-call-key=\"" + html.EscapeString(key) + "\"" + b.texts[code].attributesOf(callKeys[:])
		clients[code] = &client{words: c.words, calls: calls, script: b.script + callScript()}
	}
	return clients
}

// callingPolicyFor is policyFor of pages with that part: their service worker is on the same site.
func (b *builtInPages) callingPolicyFor(i Identity) string {
	return i.policyOf(variants(b.script+callScript()), b.style) + "; worker-src blob: 'self'; form-action 'self'"
}

// callKeys are the keys of the strings of that part.
var callKeys = [...]string{"calling", "callFails", "callDenied", "callOffline", "callFull"}

func callScript() string { return squeezeScript(callSource) }

// CallWorker is the service worker that shows visitors what they are told when they are called.
func CallWorker() string { return squeezeScript(workerSource) }

// Called are the words of a call in a language that [Languages.Match] has returned.
type Called struct {
	Title  string // of all that is told
	Almost string // it is almost their turn
	Turn   string // a slot is kept, until {time}
	Closed string // nobody is let in any more
	Lapsed string // their place is kept for so many minutes
}

// Called returns the words of a call.
func (s *Set) Called(code string, placeKeptMinutes string) Called {
	page := s.builtIn.texts[code].Page
	if page == nil {
		page = s.builtIn.texts[s.Default()].Page
	}
	c := Called{Title: page["title"], Almost: page["almost"], Turn: page["kept"], Closed: page["reject"],
		Lapsed: strings.ReplaceAll(page["away"], "{placeKeptMinutes}", placeKeptMinutes)}
	if s.identity.SiteName != "" {
		c.Title = s.identity.SiteName + " · " + c.Title
	}
	return c
}

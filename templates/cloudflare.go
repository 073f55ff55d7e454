package templates

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// CloudflareVariables lists the variables of Cloudflare's Waiting Room: the 25 fields of its JSON
// answer, in its order, and those that only pages have. Pages here have all of them.
func CloudflareVariables() []string {
	return []string{
		"inWaitingRoom", "waitTimeKnown", "waitTime", "waitTime25Percentile", "waitTime50Percentile", "waitTime75Percentile", "waitTimeFormatted",
		"queueIsFull", "queueAll", "lastUpdated", "refreshIntervalSeconds", "queueingMethod", "isFIFOQueue", "isRandomQueue", "isPassthroughQueue",
		"isRejectQueue", "isEventActive", "isEventPrequeueing", "timeUntilEventStart", "timeUntilEventStartFormatted", "timeUntilEventEnd",
		"timeUntilEventEndFormatted", "shuffleAtEventStart", "turnstile", "infiniteQueue",

		"waitTimeHours", "waitTimeHourMinutes", "timeUntilEventStartHours", "timeUntilEventStartHourMinutes",
	}
}

// neverSet are the variables of Cloudflare's that have one value here, and what it is.
var neverSet = map[string]string{
	"turnstile":     "is Cloudflare's widget, and always empty here",
	"infiniteQueue": "is about Cloudflare's Turnstile, and always false here",
}

// doubtName doubts a variable that never has a value.
func (c *checker) doubtName(t tag) {
	if value := neverSet[t.name]; value != "" && len(c.theirs) > 0 {
		c.doubt(t.at, "%q %s", t.name, value)
	}
}

// isLacking reports whether an unknown name is taken for a variable of Cloudflare's that pages here
// do not have: it goes on from the name of one of theirs, as timeUntilEventEndHours does, and is no
// misspelling of a variable that there is.
func (c *checker) isLacking(name string) bool {
	if _, found := slices.BinarySearch(c.known, name); found || spelling.Misspelt(name, c.known) != "" {
		return false
	}
	return slices.ContainsFunc(c.theirs, func(known string) bool {
		more, goesOn := strings.CutPrefix(name, known)
		first, _ := utf8.DecodeRuneInString(more)
		return goesOn && (unicode.IsUpper(first) || unicode.IsDigit(first))
	})
}

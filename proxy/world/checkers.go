package world

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Breach is a promise that was not kept.
type Breach struct {
	At      time.Duration
	Promise string
	Text    string
}

// String tells the breach in a line.
func (b Breach) String() string {
	return fmt.Sprintf("%s  %s: %s", moment(b.At), b.Promise, b.Text)
}

// checkers are the promises, and what finds that one was not kept.
var checkers = []struct {
	promise string
	check   func(h *History, breach func(at time.Duration, format string, args ...any))
}{
	{"no more than total_active_users sessions at a time", checkSessions},
	{"no more than new_users_per_minute admissions a calendar minute", checkAdmissions},
	{"a gate that shares lets in no more than were open when the store answered last", checkShare},
	{"one ticket holds one slot", checkSlots},
	{"people who are in stay in", checkStays},
	{"line: a number is kept, or its visitor is told", checkNumbers},
	{"line: nobody has another's number", checkNumbersDiffer},
	{"line: first in, first out, to the individual", checkLine},
	{"fifo: first in, first out, to within ten seconds of admissions", checkFIFO},
	{"visitors are told the truth about those ahead", checkTold},
	{"a place is kept", checkPlaces},
	{"a place that was used is not used again", checkCopies},
	{"a place that has moved is of no use where it was", checkMoved},
	{"while new visitors are held nobody is let in", checkHeld},
	{"a limit that is lowered holds", checkLowered},
	{"a shuffled prequeue: every order is as likely as any other, of those who are present at the start", checkDraw},
	{"a free slot goes on", checkIdle},
	{"a form is never lost", checkForms},
	{"requests that no person looks at take no place", checkCrawlers},
	{"no part of a page reaches the site while people wait", checkParts},
	{"visitors are told the truth about how many wait", checkQueued},
	{"newcomers are told all who are ahead", checkFirst},
	{"waits that are not known are said to be unknown", checkWaits},
	{"a pass is used no more often than it may be, and not after its end", checkUses},
	{"a use of a pass is a person", checkOneHolder},
	{"who has a pass to get in takes the next slot", checkPassIn},
	{"who has a pass to be ahead is, as long as no more than half have one", checkPassAhead},
	{"the slot of who is called is kept until they come", checkCalled},
	{"who is called and does not come in time goes back to their place, once", checkGoesBack},
	{"who is called is called once, and not while they are in", checkCalledOnce},
	{"who is to be called keeps their place while they are away", checkCallsGoOn},
	{"nothing grows beyond what those who came need", checkGrowth},
	{"an invite is one person", checkInvitesAreOne},
	{"invites are no more than the capacity", checkCapacity},
	{"invites are not lost", checkInvitesAreGiven},
	{"invites are sent", checkInvitesAreSent},
	{"a spot that has ended goes to the next", checkSpotsGoOn},
	{"no more are invited than are released", checkReleases},
	{"guests are told their rank", checkRanks},
	{"invites last for invite_ttl from their mail", checkInvitesLast},
	{"who leaves a waitlist stays erased", checkErased},
	{"gates log no panics, and no errors where nothing is wrong", checkLogs},
}

// Check returns the promises that were not kept, in the order of time.
func Check(h *History) []Breach {
	var found []Breach
	for _, c := range checkers {
		c.check(h, func(at time.Duration, format string, args ...any) {
			found = append(found, Breach{at, c.promise, fmt.Sprintf(format, args...)})
		})
	}
	slices.SortStableFunc(found, func(a, b Breach) int { return cmp.Compare(a.At, b.At) })
	return found
}

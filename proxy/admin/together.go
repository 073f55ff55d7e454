package admin

import (
	"fmt"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// readBeside is what those who wait read on their page beside an operator's message, by why nobody is
// let in. For any other reason they read a wait.
var readBeside = map[estimate.Reason]string{
	estimate.ActiveHeld:    "Admissions are paused at the moment.",
	estimate.QueueAll:      "Admissions are paused at the moment.",
	estimate.OriginFailing: "The site is not answering",
	estimate.EventHolds:    "Time until the start",
	estimate.SoldOut:       "Nothing is left. You need not wait any longer.",
	estimate.MethodRejects: "Please come back later.",
}

// reasonWith is why nobody is let in with these settings. What else than settings can be the reason
// is so as it was.
func reasonWith(s *queue.Settings, was estimate.Reason) estimate.Reason {
	n := estimate.Numbers{Settings: *s, Paused: was == estimate.OriginFailing}
	n.Settings.Event.HoldsNew = was == estimate.EventHolds && !s.QueueAll
	if why := n.Reason(); why.StopsAll() || was != estimate.SoldOut || s.OnSoldOut != queue.CloseToAll {
		return why
	}
	return was
}

// ReadTogether says, before a change is made, with what those who wait will read a message: if the
// message is another while nobody is let in, or if it stays while that changes. No program can tell
// whether the two go together: so it asks. It is "" where there is nothing to ask. The reason is why
// people wait before the change.
func ReadTogether(was, then *queue.Settings, reason estimate.Reason) string {
	now, next := reasonWith(was, reason), reasonWith(then, reason)
	said, changed := readBeside[next], readBeside[now] != readBeside[next] || was.Suspended != then.Suspended
	switch {
	case then.Message == "" || was.Message == then.Message && !changed || was.Message != then.Message && said == "" && !then.Suspended:
		return ""
	case then.Suspended:
		return fmt.Sprintf("While the room is suspended nobody waits, and so nobody reads %q", then.Message)
	case said == "":
		return fmt.Sprintf("The message stays: those who wait go on reading %q beside their wait.", then.Message)
	}
	return fmt.Sprintf("Those who wait read both: %q and %q", said, then.Message)
}

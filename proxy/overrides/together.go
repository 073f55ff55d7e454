package overrides

import (
	"encoding/json"
	"fmt"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// readBeside is what those who wait read on their page beside an operator's message, by why nobody is
// let in. For any other reason they read a wait.
var readBeside = map[estimate.Reason]string{
	estimate.QueueAll:      "Admissions are paused at the moment.",
	estimate.OriginFailing: "The site is not answering",
	estimate.EventHolds:    "Time until the start",
	estimate.SoldOut:       "Nothing is left. You need not wait any longer.",
	estimate.MethodRejects: "Please come back later.",
}

// beside is the reason whose words those who wait read beside a message, NoReason where they read a
// wait. Of a hold they read first, whatever else there is.
func beside(s *queue.Settings, why estimate.Reason) estimate.Reason {
	switch {
	case s.HeldByOperators() || s.HoldActive != queue.HoldOff:
		return estimate.QueueAll
	case readBeside[why] != "":
		return why
	}
	return estimate.NoReason
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
	now, next := beside(was, reasonWith(was, reason)), beside(then, reasonWith(then, reason))
	said, changed := readBeside[next], now != next || was.Suspended != then.Suspended
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

// agreed returns d with what those who wait read beside the message once operators have put a patch
// over d that made it next: if the patch has the message, or changes what is beside it.
func (d Document) agreed(before Document, patch Changes, reason estimate.Reason) Document {
	was, then := before.base(), d.base()
	next := beside(&then, reasonWith(&then, reason))
	if _, given := patch["message"]; given || next != beside(&was, reasonWith(&was, reason)) {
		d.Beside = next
	}
	return d
}

// OutOfDate says that what people read beside an operator's message is by itself not what it was when
// operators last had both before them: an event has begun or ended, say, or nothing is left. It is ""
// where that is not so. The settings are those in force, and the reason is why people wait.
func (d Document) OutOfDate(s *queue.Settings, reason estimate.Reason) string {
	var theirs string
	now := beside(s, reason)
	if json.Unmarshal(d.Changes["message"], &theirs) != nil || theirs == "" || theirs != s.Message || s.Suspended || d.Beside == "" || d.Beside == now {
		return ""
	}
	words := func(why estimate.Reason) string {
		if said := readBeside[why]; said != "" {
			return fmt.Sprintf("%q", said)
		}
		return "their wait"
	}
	return fmt.Sprintf("The message %q may be out of date: beside it people read %s now, and %s when operators saw to it last.", s.Message, words(now), words(d.Beside))
}

// lookAtMessage logs, once, that the message of operators may be out of date. While the store does
// not answer nobody knows.
func (r *Room) lookAtMessage() {
	n := r.queue.Numbers()
	why := n.Reason()
	if why == estimate.StoreUnreachable || why == estimate.StoreRecovering {
		return
	}
	s, told := r.queue.Settings(), ""
	if s.Message != "" {
		told = r.document().OutOfDate(&s, why)
	}
	if told != "" && told != r.outOfDate {
		r.log.Warn(told)
	}
	r.outOfDate = told
}

package world

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// costNoPlace are the kinds of faults by which nobody loses a place who asks again when they are
// told to, or before the session is over that they may have been given.
var costNoPlace = []string{repliesLost, "Redis slow", "scripts flushed"}

// checkPlaces finds people who have a later place in line than they had when they asked last: after
// a goodbye, a silence, or an answer that a gate has lost.
func checkPlaces(h *History, breach func(time.Duration, string, ...any)) {
	last := make([]*Event, len(h.Plan.People)) // with what they were told to wait last, if nothing has happened to them since
	for i := range h.Events {
		e := &h.Events[i]
		if e.keepsSlot() { // they may use their place
			last[e.Of-1] = nil
		}
		if e.Who == nobody || e.What == Goodbye || kinds.find(h.Plan.People[e.Who].Kind).strange || h.goesBefore(e) {
			continue
		}
		before := last[e.Who]
		if last[e.Who] = nil; e.What != Waits || e.Ticket.State != queue.Waiting {
			continue
		}
		unheard := e.Room.InWaitingRoom && !e.Room.UsersAheadKnown && h.Plan.Settings.Method.KeepsOrder()
		if before != nil && unheard && !e.Ticket.behind(&before.Ticket) { // the store has not heard of them, and the answer says what the ticket says
			last[e.Who] = before
			continue
		}
		if last[e.Who] = e; before == nil || e.Sent < before.At+onTheWay || !e.Ticket.behind(&before.Ticket) || !h.keepsPlace(before, e) || h.Plan.mayEnd(e.Who, &before.Ticket, &e.Ticket) {
			continue
		}
		breach(e.At, "%s has a later place, from gate %d, than they had at %s", h.Plan.People[e.Who].Name, e.Gate, moment(before.At))
		return
	}
}

// behind says whether the ticket's place is behind that of an earlier one.
func (t *Ticket) behind(earlier *Ticket) bool {
	if t.Number != 0 || earlier.Number != 0 { // 0 while nobody knows it
		return earlier.Number != 0 && t.Number > earlier.Number
	}
	return t.Arrived > earlier.Arrived+fifoGrain
}

// keepsPlace says whether somebody who asks surely has the place that they had when they asked
// before.
func (h *History) keepsPlace(before, now *Event) bool {
	s, asked, again := h.Plan.Settings, before.Sent, now.At
	silent := now.Sent >= before.At+time.Duration(before.Room.Retry)*time.Second+dueSpare
	if silent && kinds.find(h.Plan.People[now.Who].Kind).freezes { // they may have been let in meanwhile
		return false
	}
	if s.Method == queue.Line && again-asked >= s.LineDropout-h.longestInterval() {
		return false
	}
	// For so long a slot lasts that they may have been given as they asked before. A newcomer has no
	// place to go back to from one that they do not confirm.
	lasts := s.SessionDuration
	if before.Ticket.Arrived >= asked.Truncate(time.Millisecond) && s.ConfirmWithin > 0 {
		lasts = min(lasts, s.ConfirmWithin)
	}
	inTime := again-asked < lasts-slack || before.Room.Retry > 0 && !silent
	return h.quiet(asked, again) || inTime && h.onlyFaults(again, costNoPlace)
}

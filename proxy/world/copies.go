package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// copy is somebody elsewhere who shows a copy of a ticket that the visitor has had, or what
// somebody has made of it. What becomes of it is noted apart from what becomes of the visitor.
func (v *visitor) copy(ticket string) *visitor {
	v.copies++
	c := *v
	c.random = source(v.world.plan.Seed, fmt.Sprint("person ", v.Number, " copy ", v.copies))
	c.jar, c.copied, c.home = &jar{cookie: ticket, tabs: 1}, ticket, c.random.IntN(len(v.world.machines))
	return &c
}

// asCopied is what becomes of a copied ticket.
func (v *visitor) asCopied(e Event) Event {
	e.Outcome, e.What = e.What, Copied
	e.Brought = v.world.history.ticketOf(v.copied)
	return e
}

// checkCopies finds tickets whose place was used, and that are taken for that place again: its
// visitor was in, and their session is over, and with a copy from before that somebody has the
// place, or is let in while others wait. Somebody who was let in at once and has not come back in
// time may go back to the place of their arrival.
func checkCopies(h *History, breach func(time.Duration, string, ...any)) {
	over := map[queue.ID]time.Duration{} // when the session surely is
	cameBack := map[queue.ID]bool{}      // whether a ticket was brought that has been given before
	seen, all := make([]time.Duration, len(h.Plan.People)), tracks(h)
	lasts := h.Plan.Settings.SessionDuration + slack
	for i := range h.Events {
		e := &h.Events[i]
		until := over[e.Brought.ID]
		switch {
		case e.What == Seen:
			seen[e.Who] = e.At
		case e.What == Waits:
			cameBack[e.Ticket.ID] = true
		case e.What == Served && e.Ticket.State == queue.Accepted:
			if cameBack[e.Ticket.ID] {
				over[e.Ticket.ID] = max(seen[e.Who], e.At) + lasts
			}
			cameBack[e.Ticket.ID] = true
		case e.What != Copied || until == 0:
		case e.Sent > until && e.Brought.State == queue.Waiting && e.goesOn(all) && !h.judgesLater(e, until) && (h.quiet(e.Sent-2*lasts, e.At) || h.onlyFaults(e.At, staysUsed)):
			breach(e.At, "gate %d takes a copy of a ticket of %s for their place again, which they had used by %s", e.Gate, h.Plan.People[e.Who].Name, moment(until-lasts))
			return
		case e.Outcome == Served, e.Outcome == Seen: // which renews the session, if it is of that ticket
			over[e.Brought.ID] = max(until, e.At+lasts)
		}
	}
}

// forgetNothing are the kinds of faults after which a place that was used is still known to be
// used. A lost reply is none: the place may be gone back to, once for each.
var forgetNothing = []string{
	"kill -9", "restart", "rolling restart", "file reloaded", "gate cut off from the balancer", "gate cut off from the site", "scripts flushed",
}

// staysUsed are those, and the kinds by which a gate that shares a Redis forgets what Redis knows.
var staysUsed = slices.Concat(forgetNothing, []string{"gate killed", "gate restarted"})

// onlyFaults says whether all that went wrong until a moment is of some kinds.
func (h *History) onlyFaults(until time.Duration, kinds []string) bool {
	return !slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool { return f.At <= until && !slices.Contains(kinds, f.Kind) })
}

// goesOn says whether somebody who has shown a copy of a ticket surely has the place of it.
func (e *Event) goesOn(all []*track) bool {
	if e.Outcome == Waits {
		return e.Room.UsersAheadKnown && e.Ticket.ID == e.Brought.ID && e.Ticket.Number == e.Brought.Number && (e.Ticket.Number != 0 || e.Ticket.Arrived == e.Brought.Arrived)
	}
	return e.Outcome == Served && slices.ContainsFunc(all, func(t *track) bool {
		return !t.broken && t.waiting(e.Sent) && t.waiting(e.At) && len(t.told) > 2 && t.told[2].at < e.Sent
	})
}

// judgesLater says whether what somebody was told who has shown a copy is only for now: a gate that
// has started since the place was used has it judged by Redis as its turn comes.
func (h *History) judgesLater(e *Event, used time.Duration) bool {
	return h.Plan.Redis && e.Outcome == Waits && slices.ContainsFunc(h.Events, func(o Event) bool { return o.What == Started && o.Gate == e.Gate && o.At > used && o.At < e.At })
}

// checkMoved finds tickets that are good for anything after their place has moved to another
// device.
func checkMoved(h *History, breach func(time.Duration, string, ...any)) {
	type move struct {
		at    time.Duration
		times uint8
	}
	moved := map[queue.ID]move{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.What == Moved:
			moved[e.Ticket.ID] = move{e.At, e.Ticket.Moved}
		case e.What == Copied && (e.Outcome == Waits || e.Outcome == Seen || e.Outcome == Enters):
			m, known := moved[e.Brought.ID]
			if known && e.Brought.Moved < m.times && e.Sent > m.at+rumour && h.quiet(m.at, e.At) {
				breach(e.At, "gate %d takes a ticket of %s whose place has moved at %s to another device", e.Gate, h.Plan.People[e.Who].Name, moment(m.at))
				return
			}
		}
	}
}

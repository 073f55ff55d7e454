package world

import (
	"net/http"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// callPath is where visitors ask to be called.
const callPath = "/.fairdoor/call-back?room=" + roomName

// caller is somebody who asks to be called, and closes the page. They come back by the link of the
// message in time, or too late, or by themselves before. Where nobody is called they are a page
// like others.
func (v *visitor) caller() {
	if v.world.push == nil {
		v.page()
		return
	}
	b := v.world.push.subscribe(v.number)
	for early := false; !v.fedUp(); {
		a := v.ask(request{accept: asHTML})
		switch {
		case a.in():
			if v.browse(asHTML) {
				return
			}
		case a.waits() && !early && v.asksForCall(b):
			early = v.isAway(b)
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}

// asksForCall asks to be called, and says whether that was acknowledged. Nobody who may be called
// leaves before.
func (v *visitor) asksForCall(b *box) bool {
	sent := v.world.history.now()
	a := v.ask(request{method: http.MethodPost, path: callPath, accept: asJSON, form: b.Subscription, whole: true})
	if v.Patience = 0; a.lost || a.status != http.StatusNoContent {
		return false
	}
	v.world.history.add(Event{What: Absent, Who: nobody, Of: v.number + 1, Gate: a.gate, Sent: sent})
	return true
}

// isAway is the time in which nothing is heard of the visitor: until they are called, or look by
// themselves, which it says.
func (v *visitor) isAway(b *box) (early bool) {
	rest := v.world.plan.Lasts - v.world.history.now()
	if v.random.IntN(4) == 0 {
		rest, early = min(rest, v.upTo(3*time.Minute)), true
	}
	timer := time.NewTimer(max(rest, 0) + v.upTo(time.Second))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return early
		case c := <-b.got:
			if !c.Last {
				continue
			}
			v.comeBack(c)
			return false
		}
	}
}

// comeBack comes back by the link of a message: in time, as a rule.
func (v *visitor) comeBack(c called) {
	left := max(time.Until(c.Until)-comesInTime, time.Second)
	v.wait(v.upTo(min(left, 2*time.Minute)))
	if v.random.IntN(6) == 0 {
		v.wait(left + v.upTo(30*time.Second))
	}
	v.ask(request{path: c.URL, accept: asHTML, whole: true})
}

// comesInTime is how much before the end somebody comes who comes in time.
const comesInTime = 3 * time.Second

// keepsSlot says whether somebody is told that a slot is kept for them.
func (e *Event) keepsSlot() bool { return e.What == Called && e.Text == isCalled }

// keptFrom is from when on a slot is kept at the earliest of which somebody is told: their session
// may have begun then.
func (h *History) keptFrom(e *Event) time.Duration {
	return e.Until - min(h.Plan.Settings.ClaimWithin, h.Plan.Settings.SessionDuration)
}

// checkCalled finds people who were told that a slot is kept for them, and who wait when they come
// in time, or for whom it is kept for a shorter time than claim_within. Another gate than the one
// that called them may not have heard of it when they ask there at once.
func checkCalled(h *History, breach func(time.Duration, string, ...any)) {
	waits := map[int]*Event{} // the calls of those who have not come since
	for i := range h.Events {
		e := &h.Events[i]
		if e.keepsSlot() {
			waits[e.Of-1] = e
			if kept := e.Until - e.At; kept < min(h.Plan.Settings.ClaimWithin, h.Plan.Settings.SessionDuration)-slack && !h.pushFails(e.At) && h.quiet(e.At, e.At) {
				breach(e.At, "%s is called, and their slot is kept for %v", h.Plan.People[e.Of-1].Name, kept)
				return
			}
		}
		c := waits[e.Who]
		if c == nil || e.Sent < c.At {
			continue
		}
		delete(waits, e.Who)
		unheard := e.Gate != c.Gate && e.Sent < c.At+fifoGrain
		if e.What == Waits && !unheard && e.At < c.Until-time.Second && h.quiet(c.At-h.Plan.Settings.ClaimWithin, e.At) {
			breach(e.At, "%s was called at %s, has come before %s, and is told to wait", h.Plan.People[e.Who].Name, moment(c.At), moment(c.Until))
			return
		}
	}
}

// checkGoesBack finds people who did not come in time as they were called, for the first time, and
// who come within what would have been their session, and have not the place that they had.
func checkGoesBack(h *History, breach func(time.Duration, string, ...any)) {
	type call struct {
		*Event
		before Ticket
		times  int
	}
	calls, last := map[int]call{}, map[int]Ticket{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.keepsSlot() {
			calls[e.Of-1] = call{e, last[e.Of-1], calls[e.Of-1].times + 1}
		}
		c, called := calls[e.Who]
		if e.What == Waits {
			last[e.Who] = e.Ticket
		}
		if !called || c.Event == nil || e.Sent < c.At {
			continue
		}
		calls[e.Who] = call{times: c.times}
		if lasts := h.Plan.Settings.SessionDuration - slack; e.What == Waits && c.times == 1 && e.Sent > c.Until+time.Second && e.At < c.At+lasts && e.Ticket.behind(&c.before) && h.quiet(c.At-lasts, e.At) {
			breach(e.At, "%s was called at %s, has come after %s, and has not the place that they had", h.Plan.People[e.Who].Name, moment(c.At), moment(c.Until))
			return
		}
	}
}

// missedCall says whether somebody is let in who was called since they asked last, and whose slot had
// gone on: they were not in line meanwhile, and go back to the place that they had.
func (h *History) missedCall(t *track) bool {
	last := t.told[len(t.told)-1].at
	return slices.ContainsFunc(h.Events, func(e Event) bool {
		return e.keepsSlot() && e.Of == t.who+1 && e.At > last && e.Until < t.in.latest
	})
}

// pushFails says whether messages may be late at a moment.
func (h *History) pushFails(at time.Duration) bool {
	return slices.ContainsFunc(h.Plan.Calls.Outages, func(o Outage) bool { return o.At <= at && o.At+o.Lasts+time.Minute >= at })
}

// checkCalledOnce finds people who are called that they have a slot though they are in, or more
// than once for one time that they have asked for it.
func checkCalledOnce(h *History, breach func(time.Duration, string, ...any)) {
	in, times := map[int]time.Duration{}, map[int]int{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.What == Seen:
			if in[e.Who] == 0 {
				in[e.Who] = e.At
			}
		case e.What == Waits, e.What == Lost, e.What == Left:
			delete(in, e.Who)
		case e.What == Absent:
			times[e.Of] = 0
		case e.What != Called || e.Text == almostCalled:
		default:
			times[e.Of]++
			if since := in[e.Of-1]; since > 0 && e.At > since+rumour && e.At < h.lastSeen(e.Of-1, e.At)+h.Plan.Settings.SessionDuration && !h.pushFails(e.At) && h.quiet(since, e.At) {
				breach(e.At, "%s is called, and is in since %s", h.Plan.People[e.Of-1].Name, moment(since))
				return
			}
			if times[e.Of] > 1 && h.quiet(e.At, e.At) {
				breach(e.At, "%s is called for the %d. time, and has asked for it once", h.Plan.People[e.Of-1].Name, times[e.Of])
				return
			}
		}
	}
}

// lastSeen is when somebody was seen last before a moment.
func (h *History) lastSeen(who int, at time.Duration) (last time.Duration) {
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Seen && e.Who == who && e.At <= at {
			last = e.At
		}
	}
	return last
}

// absence is a time in which somebody is away who is to be called.
type absence struct {
	who         int
	place       time.Duration // with which they have left
	from, until time.Duration
}

// absences are those of a history: from when a gate has acknowledged it to when the visitor is
// called, or asks.
func absences(h *History) (list []absence) {
	open, last := map[int]*absence{}, map[int]*Event{}
	end := func(who int, at time.Duration) {
		if a := open[who]; a != nil {
			a.until = at
			list = append(list, *a)
			delete(open, who)
		}
	}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.What == Absent:
			if said := last[e.Of-1]; said != nil {
				open[e.Of-1] = &absence{who: e.Of - 1, place: h.placeOf(&said.Ticket), from: e.At}
			}
		case e.What == Called && e.Text != almostCalled:
			end(e.Of-1, e.At)
		case e.Who != nobody:
			if end(e.Who, e.At); e.What == Waits {
				last[e.Who] = e
			}
		}
	}
	for who := range h.Plan.People { // in one order each time
		end(who, h.Ends)
	}
	return list
}

// checkCallsGoOn finds people who are not called while those are let in who came after them, beyond
// the bound of the order, and longer than it takes to tell them.
func checkCallsGoOn(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Calls == nil || !h.Plan.Settings.Method.KeepsOrder() || !h.onlyFaults(h.Ends, slices.Concat(forgetNothing, []string{"gate restarted"})) {
		return
	}
	all := slices.DeleteFunc(tracks(h), func(t *track) bool { return len(t.told) == 0 })
	_, admitted := read(h)
	for _, a := range absences(h) {
		if a.place == 0 || slices.ContainsFunc(h.Plan.Calls.Outages, func(o Outage) bool { return o.At <= a.until && o.At+o.Lasts+time.Minute >= a.from }) {
			continue
		}
		past, latest := 0, time.Duration(0)
		for _, b := range all {
			if b.isIn && !b.broken && b.in.earliest > a.from+rumour && b.in.latest < a.until-h.longestInterval()-rumour && h.quiet(b.in.earliest, b.in.latest) && h.isBehind(b, a.place) {
				past, latest = past+1, max(latest, b.in.latest)
			}
		}
		most := 0
		if h.Plan.Settings.Method == queue.FIFO {
			most = mostWithin(admitted, latest, 10*time.Second) + 2
		}
		if past > most {
			breach(latest, "%s is away since %s and not called before %s, and %d are let in who came later", h.Plan.People[a.who].Name, moment(a.from), moment(a.until), past)
			return
		}
	}
}

// isBehind says whether somebody surely has a place behind another.
func (h *History) isBehind(t *track, place time.Duration) bool {
	if h.Plan.Settings.Method == queue.Line {
		return t.number() > int(place)
	}
	return h.place(t) > place+fifoGrain
}

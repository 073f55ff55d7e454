package world

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// presence is a time in which somebody surely holds a slot: from when the origin sees them to one
// session after they have sent that request.
type presence struct {
	who         int
	from, until time.Duration
}

// admission is a moment between two, at which somebody was surely let in.
type admission struct{ earliest, latest time.Duration }

// seen is what an observer of everything knows of somebody's session.
type seen struct {
	waited  time.Duration // when they were last told to wait since they were seen; 0 for never
	sent    time.Duration // when they had asked then
	until   time.Duration // the session surely lasts until then
	over    time.Duration // and surely not beyond
	began   time.Duration // and began then or later
	at      time.Duration // when they were seen last
	known   bool
	wasTold bool
	asked   time.Duration // when they sent the first request of which nobody knows whether it let them in; 0 for none
}

// endsAfter is until when a session surely lasts that a request has renewed, where sessions are
// renewed, and that began at a moment or later.
func (h *History) endsAfter(renewed, began time.Duration) time.Duration {
	if h.Plan.Settings.DisableSessionRenewal {
		return min(renewed, began+h.lasts(h.Plan.Settings.SessionDuration)-sessionGrain)
	}
	return renewed
}

// sessionGrain is by how much earlier a session ends at most that is not renewed: gates count by
// eighths of a second.
const sessionGrain = 125 * time.Millisecond

// slack is how much longer than told a session may last.
const slack = 3 * time.Second

// read returns who was surely in when, and who was surely let in when.
func read(h *History) (present []presence, admitted []admission) {
	s, people, died, belated := h.Plan.Settings, make([]seen, len(h.Plan.People)), h.Ends, h.belated()
	for i := range h.Events {
		e := &h.Events[i]
		if e.Who != nobody && kinds.find(h.Plan.People[e.Who].Kind).strange {
			if e.What == Seen { // each time somebody else is let in, for a short time
				admitted = append(admitted, admission{e.Sent, e.At})
				present = append(present, presence{len(people) + i, e.At, e.Sent + h.lasts(min(s.SessionDuration, s.ConfirmWithin))})
			}
			continue
		}
		if e.keepsSlot() {
			people[e.Of-1].asked = cmp.Or(people[e.Of-1].asked, h.keptFrom(e))
		}
		switch e.What {
		case Waits:
			if v := &people[e.Who]; e.Sent >= v.at && !belated[i] { // in the first case another tab asked before
				v.began = e.Sent
				if v.wasTold && !h.quiet(v.waited, e.At) { // they may have been let in when they asked before, and nobody knew
					v.began = v.sent
				}
				v.waited, v.sent, v.wasTold, v.asked = e.At, e.Sent, true, 0
			}
		case Seen:
			v := &people[e.Who]
			lasts := h.lasts(s.SessionDuration)
			if !v.wasTold && (!v.known || e.At > v.until) && s.ConfirmWithin > 0 { // somebody who did not wait has the slot for a short time
				lasts = min(lasts, h.lasts(s.ConfirmWithin))
			}
			switch {
			case v.wasTold:
				admitted = append(admitted, admission{v.waited, e.At})
			case !v.known || e.Sent > v.over:
				v.began = cmp.Or(v.asked, e.Sent)
				admitted = append(admitted, admission{v.began, e.At})
			}
			v.wasTold, v.known, v.at, v.asked = false, true, e.At, 0
			until := h.endsAfter(e.Sent+lasts, v.began)
			v.until, v.over = max(v.until, until), e.At+s.SessionDuration+slack
			present = append(present, presence{e.Who, e.At, until})
		case Watched: // an answer that is under way keeps its slot
			v := &people[e.Who]
			if v.over = e.At + s.SessionDuration + slack; h.quiet(e.Sent, e.At) {
				present = append(present, presence{e.Who, e.Sent + time.Second, e.At})
			}
		case Served:
			people[e.Who].at = e.At
		case Lost, Shut: // the request may have renewed a session, or begun one
			v := &people[e.Who]
			v.asked, v.over = cmp.Or(v.asked, e.Sent), max(v.over, e.At+s.SessionDuration+slack)
		case Died, Stopped:
			died = min(died, e.At)
		case Started: // whoever was in then stays in for a session
			for i := range people {
				if v := &people[i]; v.over >= died {
					v.over = max(v.over, e.At+s.SessionDuration+slack)
				}
			}
			died = h.Ends
		default:
		}
	}
	return present, admitted
}

// checkSessions counts those who surely hold a slot.
func checkSessions(h *History, breach func(time.Duration, string, ...any)) {
	type change struct {
		presence
		begins bool
	}
	present, _ := read(h)
	var changes []change
	for _, p := range present {
		if p.until > p.from {
			changes = append(changes, change{p, true}, change{presence{p.who, p.until, p.until}, false})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	active, most := map[int]int{}, h.Plan.Settings.TotalActiveUsers
	since, left := map[int]time.Duration{}, map[int]presence{} // of those who are in, and of all who were: a session may last a little longer than it surely does
	for _, c := range changes {
		if c.begins {
			if active[c.who]++; active[c.who] == 1 {
				since[c.who] = c.from
				if before, known := left[c.who]; known && c.from <= before.until+slack {
					since[c.who] = before.from
				}
			}
		} else if active[c.who]--; active[c.who] == 0 {
			left[c.who] = presence{c.who, since[c.who], c.from}
			delete(active, c.who)
			delete(since, c.who)
		}
		if n := len(active); n > most && n > h.Plan.Settings.TotalActiveUsers+h.excess(since)+h.shared(c.from) {
			most = n
			breach(c.from, "%d visitors hold a slot of %d", n, h.Plan.Settings.TotalActiveUsers)
		}
	}
}

// clocksApart is by how much the store's clock differs at most from that of the world, where
// machines' clocks are set or drift: a store that starts again takes a difference of a second for
// none.
const clocksApart = 3 * time.Second

// checkAdmissions counts those who were surely let in within a calendar minute.
func checkAdmissions(h *History, breach func(time.Duration, string, ...any)) {
	in, limit := map[time.Duration]int{}, h.Plan.Settings.NewUsersPerMinute
	_, admitted := read(h)
	margin := time.Duration(0) // how much earlier or later the store's minute may begin
	if h.clocksDiffer() {
		margin = clocksApart
	}
	for _, a := range admitted {
		minute := a.latest.Truncate(time.Minute)
		if a.earliest < minute+margin || a.latest > minute+time.Minute-margin {
			continue
		}
		if in[minute]++; in[minute] > limit+h.lostAdmissions(minute)+h.shared(a.latest) {
			breach(a.latest, "%d visitors were let in in the minute from %s on, which allows %d", in[minute], moment(minute), limit)
			in[minute] = -len(h.Plan.People) // once is enough
		}
	}
}

// checkLogs finds what gates had to say that no fault explains.
func checkLogs(h *History, breach func(time.Duration, string, ...any)) {
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Said && (h.isFlawless() || strings.Contains(e.Text, "panic")) {
			breach(e.At, "gate %d logs: %s", e.Gate, e.Text)
		}
	}
}

// isFlawless says whether nothing goes wrong.
func (h *History) isFlawless() bool {
	return len(h.Plan.Faults) == 0 && (h.Plan.Waitlist == nil || len(h.Plan.Waitlist.Outages) == 0) && (h.Plan.Calls == nil || len(h.Plan.Calls.Outages) == 0)
}

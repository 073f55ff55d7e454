package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// checkWaits finds waits that are told as known while nobody can know them: while everyone new is
// held, in the first two seconds of a line, and while all slots are taken of which nobody can have
// left yet.
func checkWaits(h *History, breach func(time.Duration, string, ...any)) {
	holds, begins, left := h.holds(), h.firstLine(), h.firstLeft()
	present, _ := read(h)
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Waits || !e.Room.WaitTimeKnown {
			continue
		}
		held := !h.clocksDiffer() && h.Plan.Sale.held(e.At, e.At) || slices.ContainsFunc(holds, func(o admission) bool { return e.At >= o.earliest && e.At < o.latest })
		why := ""
		switch {
		case held && h.quietBut(newHeld, e.At, e.At):
			why = "everyone new is held"
		case e.At < begins+lineIsNew:
			why = "the first has waited since " + moment(begins)
		case e.At < left && surelyHold(present, e.At) >= h.Plan.Settings.TotalActiveUsers:
			why = "all slots are taken, and nobody has left before " + moment(left)
		default:
			continue
		}
		breach(e.At, "%s is told a wait of %d min, and %s", h.Plan.People[e.Who].Name, e.Room.WaitTime, why)
		return
	}
}

// lineIsNew is for how long nobody is told a wait in a line that has just begun.
const lineIsNew = 2 * time.Second

// firstLine is when somebody may have begun to wait at the earliest: also by a copy, or by a request
// that nobody hears the answer of.
func (h *History) firstLine() time.Duration {
	begins := h.Ends
	for i := range h.Events {
		switch e := &h.Events[i]; e.What {
		case Waits, Copied, Lost, Placed:
			begins = min(begins, cmp.Or(e.Sent, e.At))
		default:
		}
	}
	return begins
}

// firstLeft is when the first may have left at the earliest whom the site has seen, where slots are
// what people wait for; else 0.
func (h *History) firstLeft() time.Duration {
	s := &h.Plan.Settings
	if s.DisableSessionRenewal || s.NewUsersPerMinute <= s.TotalActiveUsers || len(h.Plan.Faults) > 0 && h.Plan.Faults[0].At < s.SessionDuration {
		return 0
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Seen {
			return e.Sent + min(s.SessionDuration, s.ConfirmWithin)
		}
	}
	return 0
}

// How long waits are that are told, as a share of the true ones, at least and at most, where half
// of those who wait give up: see estimates.md. They are rounded up to whole minutes.
const (
	toldTooShort = .92
	toldTooLong  = 1.07
)

// promised is a wait that was told, and how long it was; twice as long as told stands for whatever
// is longer.
type promised struct{ told, was time.Duration }

// promises are the first waits that were told to those who wait politely for ever, where nothing
// changes or goes wrong within twice as long. Whose wait counts is known as it is told: those who
// wait for long count, too.
func promises(h *History) (list []promised) {
	s := &h.Plan.Settings
	if s.Method != queue.FIFO && s.Method != queue.Line || h.Plan.Sale != (Sale{}) {
		return nil
	}
	for _, t := range tracks(h) {
		p := &h.Plan.People[t.who]
		first := slices.IndexFunc(t.told, func(said told) bool { return said.WaitTimeKnown })
		if first < 0 || t.broken || p.Patience > 0 || !kinds.find(p.Kind).polite {
			continue
		}
		from, told := t.told[first].at, time.Duration(t.told[first].WaitTime)*time.Minute
		until := from + 2*told
		if until > h.Plan.Lasts || !h.quiet(from, until) {
			continue
		}
		if t.isIn {
			until = min(until, t.in.latest)
		}
		list = append(list, promised{told, until - from})
	}
	return list
}

// waitsTooShort adds by how many minutes the waits of a history were longer than people were told.
// Those of one history go together.
func waitsTooShort(h *History, add func(beyond, variance float64)) {
	addSum(promises(h), add, func(p promised) float64 { return p.was.Minutes()*toldTooShort - p.told.Minutes() })
}

// waitsTooLong adds by how many minutes they were shorter.
func waitsTooLong(h *History, add func(beyond, variance float64)) {
	addSum(promises(h), add, func(p promised) float64 { return (p.told - time.Minute).Minutes() - p.was.Minutes()*toldTooLong })
}

// addSum adds the sum of what is beyond a bound by each promise, if there are any.
func addSum(list []promised, add func(beyond, variance float64), beyond func(promised) float64) {
	sum := 0.
	for _, p := range list {
		sum += beyond(p)
	}
	if len(list) > 0 {
		add(sum, 0)
	}
}

package estimate

import "github.com/fairdoor-gate/fairdoor/queue"

// Expected is what a room is expected to do with some settings.
type Expected struct {
	Rate float64 // admissions per minute
	Wait Wait    // of somebody who comes now
	Last float64 // minutes until the last of those in line is let in; 0 where it is not known, or drawn
}

// Expect is what a room is expected to do from now on with other settings, as far as a schedule
// tells that: by the limits, and by the time for which slots have been held. It is nothing while
// nobody can be let in with those settings, or nobody knows for how long slots are held.
func (n *Numbers) Expect(s queue.Settings) Expected {
	if n.schedule.rate == 0 || s.AdmitsNobody() || n.Paused {
		return Expected{}
	}
	t := n.schedule
	t.total, t.perMinute = s.Slots(), s.Allowance()
	t.allowance = max(0, s.Allowance()-n.Admitted)
	if len(t.slowed) > 0 {
		t.perMinute = min(t.perMinute, n.schedule.perMinute)
	}
	t.rate = min(float64(t.perMinute), float64(t.total)/t.stay.Minutes())
	e := Expected{Rate: t.rate, Wait: t.inOrder(float64(n.Waiting))}
	if s.Method.Draws() {
		e.Wait = t.waitByDraw(n.Waiting, &newcomersFutures)
	} else if last := t.staying(float64(n.Waiting - 1)); n.Waiting > 0 && !t.guesses(last) {
		e.Last = max(t.admission(last), 1.0/60) // with the next sync at the earliest
	}
	return e
}

package simulate

import "github.com/fairdoor-gate/fairdoor/queue"

// turns counts admissions that took a slot from somebody ahead: those who
// wait, by their own account, and are ahead by the room's method, outnumbered
// the open slots.
type turns struct {
	settings  queue.Settings
	first     queue.Instant // the bucket of waiting[0]
	waiting   []int         // by bucket; in an exact line by number, of those who have come back
	present   int
	lead      int // no bucket before it has people
	outOfTurn int
}

// index is where a visitor is counted.
func (t *turns) index(v *visitor) int {
	if t.settings.Method.HasExactLine() {
		return int(v.ticket.Number)
	}
	return int(v.arrived.Floor(t.settings.LongestBucket()).Sub(t.first) / t.settings.LongestBucket())
}

// holdsUp says whether those behind have to wait for a visitor.
func (t *turns) holdsUp(v *visitor) bool { return v.back || !t.settings.Method.HasExactLine() }

func (t *turns) joined(v *visitor) {
	t.present++
	if !t.holdsUp(v) {
		return
	}
	i := t.index(v)
	for len(t.waiting) <= i {
		t.waiting = append(t.waiting, 0)
	}
	t.waiting[i]++
	t.lead = min(t.lead, i)
}

func (t *turns) left(v *visitor) {
	t.present--
	if t.holdsUp(v) {
		t.waiting[t.index(v)]--
	}
}

// newcomer notes that one of the open slots went to someone without a ticket.
func (t *turns) newcomer(open int) {
	if !t.settings.Method.EveryoneEnters() && t.present >= open {
		t.outOfTurn++
	}
}

// returned notes that one of the open slots went to someone who waited.
func (t *turns) returned(v *visitor, open int) {
	if !t.settings.Method.KeepsOrder() {
		return
	}
	i := t.index(v)
	for t.lead < len(t.waiting) && t.waiting[t.lead] == 0 {
		t.lead++
	}
	ahead := 0
	i = min(i, len(t.waiting)) // they may be the first to come back of those so far behind
	for _, n := range t.waiting[min(t.lead, i):i] {
		ahead += n
	}
	if ahead >= open {
		t.outOfTurn++
	}
}

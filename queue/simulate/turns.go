package simulate

import "github.com/anteroom-gate/anteroom/queue"

// turns counts admissions that took a slot from somebody ahead: those who
// wait, by their own account, and are ahead by the room's method, outnumbered
// the open slots.
type turns struct {
	settings  queue.Settings
	first     queue.Instant // the bucket of waiting[0]
	waiting   []int         // by bucket
	present   int
	lead      int // no bucket before it has people
	outOfTurn int
}

func (t *turns) index(bucket queue.Instant) int { return int(bucket.Sub(t.first) / t.settings.Bucket) }

func (t *turns) joined(bucket queue.Instant) {
	i := t.index(bucket)
	for len(t.waiting) <= i {
		t.waiting = append(t.waiting, 0)
	}
	t.waiting[i]++
	t.present++
	t.lead = min(t.lead, i)
}

func (t *turns) left(bucket queue.Instant) {
	t.waiting[t.index(bucket)]--
	t.present--
}

// newcomer notes that one of the open slots went to someone without a ticket.
func (t *turns) newcomer(open int) {
	if t.settings.Method != queue.Passthrough && t.present >= open {
		t.outOfTurn++
	}
}

// returned notes that one of the open slots went to someone who waited.
func (t *turns) returned(bucket queue.Instant, open int) {
	if t.settings.Method != queue.FIFO {
		return
	}
	for t.lead < len(t.waiting) && t.waiting[t.lead] == 0 {
		t.lead++
	}
	ahead := 0
	for _, n := range t.waiting[min(t.lead, t.index(bucket)):t.index(bucket)] {
		ahead += n
	}
	if ahead >= open {
		t.outOfTurn++
	}
}

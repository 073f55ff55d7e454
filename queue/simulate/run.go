package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// run is one crowd at the doors of a room.
type run struct {
	Config
	settings  queue.Settings // Config.Room with its defaults
	rng       *rand.Rand     // of what visitors do as they go
	store     *sharedStore
	nodes     *nodes
	processes processes
	crowd     []visitor
	wheel     *wheel
	now       queue.Instant
	left      int      // people who are not through
	changes   []Change // that are still to come
	due       []int32  // visitors who come at this moment
	strays    strays
	site      *origin // nil for one that takes no time

	failed error // what no fault explains
	warmed int   // keeps warm from being optimised away

	spam map[int32]queue.Ticket // the old tickets that spammers keep

	measures
}

// Run lets the crowd of c come, and returns what became of it. It fails if c is
// not valid or ctx ends.
func Run(ctx context.Context, c Config) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	r := &run{
		Config: c, settings: c.Room.WithDefaults(), rng: random(c, streamSteps), crowd: drawCrowd(c),
		wheel: &wheel{}, now: start, spam: map[int32]queue.Ticket{}, changes: c.inOrder(),
	}
	if err := r.openNodes(ctx); err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	defer r.processes.close()
	defer r.nodes.close()
	for i := range r.crowd {
		if r.crowd[i].kind != bot {
			r.left++
		}
	}
	r.measures, r.strays = newMeasures(r), newStrays(r)
	r.site = newOrigin(c)
	if err := r.play(ctx); err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	return r.result(), nil
}

// play moves the clock on, a millisecond at a time, until all people are
// through.
func (r *run) play(ctx context.Context) error {
	if r.Spoofed {
		r.nodes.pause(true)
	}
	total, coming := r.left, r.crowd
	for ; r.left > 0; r.now++ {
		if err := r.lookOutside(ctx, total); err != nil {
			return err
		}
		if r.Spoofed && r.now == start.Add(gathering) {
			r.nodes.pause(false)
		}
		r.change(ctx)
		if r.limits.seen.ActiveAt(r.now) < r.slots.active {
			r.look()
		}
		if err := r.nodes.pass(ctx, r); err != nil {
			return err
		}
		for len(coming) > 0 && coming[0].joins == r.now {
			r.step(ctx, int32(len(r.crowd)-len(coming)))
			coming = coming[1:]
		}
		r.stepDue(ctx)
		r.strays.come(ctx)
	}
	if r.Progress != nil {
		r.Progress(total, total)
	}
	return nil
}

// progressSeconds is how much virtual time passes between two looks at the
// world outside.
const progressSeconds = 1

// lookOutside fails if ctx has ended, and else reports the progress, each second of
// virtual time.
func (r *run) lookOutside(ctx context.Context, total int) error {
	if r.now%(1000*progressSeconds) != 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.Progress != nil {
		r.Progress(total-r.left, total)
	}
	return nil
}

// stepDue steps through the visitors who come at this moment.
func (r *run) stepDue(ctx context.Context) {
	r.due = r.wheel.take(r.now, r.due[:0])
	r.warm(r.due)
	for _, i := range r.due {
		r.step(ctx, i)
	}
}

// warm looks at visitors who are about to be stepped through. In a large crowd
// each comes from memory, and together they come much faster than one by one.
func (r *run) warm(due []int32) {
	for _, i := range due {
		v := &r.crowd[i]
		r.warmed += int(v.phase) + int(v.answers) + int(v.ticket.RefreshInterval)
	}
}

// step is the next thing that visitor i does.
func (r *run) step(ctx context.Context, i int32) {
	v := &r.crowd[i]
	if v.phase == waiting && v.leaves != 0 && v.leaves <= r.now {
		r.walkAway(i, v)
		return
	}
	r.nodes.of(i, r.Sticky).visit(ctx, i, r.ticketOf(i, v))
}

// answered is what node n makes of a request of visitor i.
func (r *run) answered(n *node, i int32, d room.Decision) {
	r.noteAnswer(n, d)
	if i == stray {
		r.strays.note(d)
		r.look()
		return
	}
	v := &r.crowd[i]
	switch {
	case v.kind == bot:
		r.noteBot(d)
		r.wheel.add(i, r.now.Add(r.roundTrip()+r.settings.RefreshInterval))
	case d.Outcome == room.Admitted:
		r.admitted(n, i, v, d)
	case d.Outcome == room.Queued && v.phase != inside:
		r.queued(n, i, v, d)
	default: // rejected, or the session ran out between two page views
		r.turnedAway(i, v)
	}
	r.look()
}

// ticketOf is the ticket that visitor i sends.
func (r *run) ticketOf(i int32, v *visitor) queue.Ticket {
	switch v.kind {
	case bot:
		return queue.Ticket{}
	case spamOldest:
		if old, ok := r.spam[i]; ok && v.phase == waiting {
			return old
		}
	default:
	}
	return v.ticket
}

// admitted takes visitor i in, or lets them see another page; the last one is
// at the very end of their time.
func (r *run) admitted(n *node, i int32, v *visitor, d room.Decision) {
	if v.phase != inside {
		r.noteAdmission(i, v, n.openTo(d))
		v.phase, v.until = inside, r.now.Add(v.browse)
		r.entersSite()
		delete(r.spam, i)
	}
	v.ticket = d.Ticket
	if r.now >= v.until {
		v.phase = gone
		r.left--
		r.leavesSite()
		return
	}
	took := r.pageOf(n, v.ticket.ID)
	r.wheel.add(i, max(min(r.now.Add(r.around(r.pageView())+time.Millisecond), v.until), r.now.Add(took)))
}

// pageView is how long people look at a page on average. Those of a record stay in for as long
// as they did, however short a session is.
func (r *run) pageView() time.Duration {
	const long = 10 * time.Second
	if r.Arrivals == Recorded {
		return min(long, r.settings.SessionDuration/2)
	}
	return long
}

// queued has visitor i wait for the next check-in, or for the end of their
// patience.
func (r *run) queued(n *node, i int32, v *visitor, d room.Decision) {
	if v.phase == waiting { // with another number, maybe
		r.turns.left(v)
		v.back = true
	}
	v.ticket = d.Ticket
	r.turns.joined(v)
	r.noteWait(n, i, v, d.Place)
	v.phase = waiting
	next := r.now.Add(r.roundTrip() + queue.WholeSeconds(n.room.DueIn(r.now.Time(), d.Ticket)))
	if v.kind.spams() {
		next = r.now.Add(r.around(r.settings.RefreshInterval / time.Duration(r.SpamRate)))
		r.keepOld(i, d.Ticket)
	}
	if v.leaves != 0 {
		next = min(next, v.leaves)
	}
	r.wheel.add(i, max(next, r.now+1))
}

// keepOld has a spammer keep the oldest ticket that is good for a while yet.
func (r *run) keepOld(i int32, t queue.Ticket) {
	old, ok := r.spam[i]
	if !ok || old.ID != t.ID || r.now.Sub(old.LastCheckIn) > r.settings.QueueTicketTTL/2 {
		r.spam[i] = t
	}
}

// walkAway ends a visitor's patience.
func (r *run) walkAway(i int32, v *visitor) {
	if v.goodbye {
		n := r.nodes.of(i, r.Sticky)
		n.touched = true
		n.room.Leave(r.now.Time(), v.ticket)
	}
	r.noteGivenUp(i, v)
	v.phase = gone
	r.left--
	r.look()
}

// turnedAway ends the visit of someone who is not let in, or in any longer.
func (r *run) turnedAway(i int32, v *visitor) {
	r.noteEnd(i, v)
	if v.phase == inside {
		r.leavesSite()
	}
	v.phase = gone
	r.left--
}

// roundTrip is how long an answer and the next request are under way.
func (r *run) roundTrip() time.Duration { return r.around(r.Latency) }

// around draws a time from half of d to one and a half of it.
func (r *run) around(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (.5 + r.rng.Float64()))
}

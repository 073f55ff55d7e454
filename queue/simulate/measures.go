package simulate

import (
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// measures are what a run notes of its visitors, its room and its store.
type measures struct {
	people     People
	inLine     int     // people who wait, by their own account
	visits     []Visit // of each of the crowd
	limits     limits
	slots      slots
	turns      turns
	overtaking *measure.Overtaking
	draw       *draw
	promises   promises
	places     places
	pace       pace
}

func newMeasures(r *run) measures {
	first := r.origin()
	return measures{
		people:     People{Visitors: len(r.crowd), People: r.left},
		visits:     newVisits(r),
		limits:     newLimits(r.settings),
		slots:      slots{limits: r.settings},
		turns:      turns{settings: r.settings, first: first.Floor(r.settings.LongestBucket())},
		overtaking: measure.NewOvertaking(len(r.crowd), func(i int) queue.Instant { return r.crowd[i].arrived }),
		draw:       newDraw(r),
		promises:   promises{rng: random(r.Config, streamPromises), people: make([]shown, len(r.crowd)), changed: lastChange(r.changes)},
		places:     newPlaces(len(r.crowd)),
	}
}

// look notes how many slots are open to those who wait.
func (r *run) look() {
	r.slots.look(r.now, r.store.status, r.limits.seen.ActiveAt(r.now), r.inLine)
	r.pace.look(r.now, r.inLine)
	if r.site != nil {
		r.site.look(r.now, r.store.status.Factor)
	}
}

// noteAnswer notes an answer of any kind.
func (r *run) noteAnswer(n *node, d room.Decision) {
	r.people.Requests++
	if d.Outcome == room.Admitted {
		if !d.Ticket.Uncounted {
			n.accepted(d.Ticket.ID)
		} else if d.Fresh {
			r.people.Uncounted++
		}
		admitted := r.now
		if d.Fresh {
			admitted = d.Ticket.AcceptedAt
		}
		r.limits.letThrough(r.now, admitted, &d.Ticket)
	}
}

func (r *run) noteBot(d room.Decision) {
	r.people.BotRequests++
	if d.Outcome == room.Admitted {
		r.people.BotAdmissions++
	}
}

// noteAdmission notes that visitor i has been let in, as so many slots were open.
func (r *run) noteAdmission(i int32, v *visitor, open int) {
	r.people.Admitted++
	r.overtaking.LetIn(int(i))
	visit := &r.visits[i]
	visit.Outcome, visit.Waited, visit.at = LetIn, r.now.Sub(v.joins), r.now
	if v.phase == outside {
		r.turns.newcomer(open)
		return
	}
	r.pace.admitted(r.now)
	r.places.admitted(i, r.standing(i))
	r.turns.returned(v, open)
	r.draw.wins(r.now, v)
	r.noteLeft(i, v)
	r.promises.admitted(r.now, i, v)
}

// noteWait notes an answer that has v wait, with the place that it names.
func (r *run) noteWait(n *node, i int32, v *visitor, p queue.Place) {
	if v.phase == outside {
		r.inLine++
		r.overtaking.Waits(int(i))
	}
	// A newcomer's chances begin after an interval; whoever asks, or asks often.
	if v.atRisk == 0 && (r.Spoofed || r.now >= v.joins.Add(r.settings.RefreshInterval)) {
		r.draw.joined(r.now, v)
	}
	if !v.kind.spams() {
		numbers := n.room.Numbers()
		wait := numbers.WaitAt(p)
		if !r.settings.Method.HasExactLine() {
			wait = numbers.Wait(v.ticket.ArrivedAt)
		}
		if r.estimate != nil {
			wait = r.estimate(r)
		}
		r.promises.wait(r.now, i, v, wait)
		r.notePlace(n, i, v, p)
	}
}

func (r *run) noteGivenUp(i int32, v *visitor) {
	r.people.GaveUp++
	r.visits[i].Outcome = GaveUp
	r.noteLeft(i, v)
}

func (r *run) noteEnd(i int32, v *visitor) {
	if v.phase == inside {
		r.people.Interrupted++
		return
	}
	r.people.Rejected++
	r.visits[i].Outcome = Refused
	if v.phase == waiting {
		r.noteLeft(i, v)
	}
}

// noteLeft notes that visitor i, who is v, waits no longer.
func (r *run) noteLeft(i int32, v *visitor) {
	r.inLine--
	r.overtaking.Leaves(int(i))
	r.turns.left(v)
	if v.atRisk != 0 {
		r.draw.left(r.now, v)
	}
}

// origin is the moment from which arrivals are counted.
func (r *run) origin() queue.Instant {
	if r.Spoofed {
		return start.Add(-r.Over)
	}
	return start
}

package world

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Pass is one that an operator makes as the world begins.
type Pass struct {
	Kind    waitlist.PassKind
	Uses    int
	Lasts   time.Duration // from when it is made
	Revoked time.Duration // after the beginning; 0 for never
}

// drawPasses draws the passes of a plan with a gate and a journal: gates that share one need a
// PostgreSQL, which runs in no world. Some of those who would have come as others hold one.
func (p *Plan) drawPasses() {
	r := source(p.Seed, "passes")
	if p.Gates > 1 || p.Redis || p.Sale != (Sale{}) || r.IntN(2) == 0 {
		return
	}
	kinds := []waitlist.PassKind{waitlist.PassIn, waitlist.PassAhead, waitlist.PassAhead}
	for range 1 + r.IntN(3) {
		pass := Pass{Kind: kinds[r.IntN(len(kinds))], Uses: 1 + r.IntN(5), Lasts: time.Minute + time.Duration(r.Int64N(int64(2*p.Lasts)))}
		if r.IntN(4) == 0 {
			pass.Revoked = time.Minute + time.Duration(r.Int64N(int64(p.Lasts)))
		}
		p.Passes = append(p.Passes, pass)
	}
	p.become("holder", 2+r.IntN(10), r)
}

// passesOf is what is told of passes at the end of a plan's line.
func passesOf(all []Pass) (text string) {
	for i, p := range all {
		text += fmt.Sprintf("; pass %d is of the kind %s, for %d, and lasts for %v", i+1, p.Kind, p.Uses, p.Lasts.Round(time.Second))
		if p.Revoked > 0 {
			text += ", unless it is revoked at " + moment(p.Revoked)
		}
	}
	return text
}

// links are those of passes, which everybody knows.
type links struct {
	mu  sync.Mutex
	all map[int]string // by pass, from 1 on
}

// of is the link of a pass; "" while there is none.
func (l *links) of(pass int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[pass]
}

func (l *links) tell(pass int, link string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int]string{}
	}
	l.all[pass] = link
}

// takePasses has a process take passes.
func (w *world) takePasses(p *process) {
	if len(w.plan.Passes) > 0 {
		p.config.Rooms[0].Options = p.config.Rooms[0].Options.With(passes.RoomOptions{On: true})
	}
}

// makePasses has an operator make the passes, and revoke those that are to be.
func (w *world) makePasses() {
	for i, pass := range w.plan.Passes {
		number := i + 1
		w.people.Go(func() {
			wait(time.Second + time.Duration(number)*1013*time.Microsecond)
			order := fmt.Sprintf(`{"name": "pass %d", "kind": %q, "uses": %d, "for": %q}`, number, pass.Kind, pass.Uses, pass.Lasts)
			w.order(Made, number, http.MethodPost, "", order)
			if pass.Revoked > 0 && pass.Revoked < w.plan.Lasts {
				wait(pass.Revoked - w.history.now())
				w.order(Revoked, number, http.MethodDelete, fmt.Sprintf("/pass%%20%d", number), "")
			}
		})
	}
}

// order has an operator ask for something about a pass until a gate does it.
func (w *world) order(what What, pass int, method, path, body string) {
	for w.history.now() < w.plan.Lasts {
		if _, p := w.machines[0].handler(); p != nil {
			a := p.operate(method, "/api/v1/rooms/"+roomName+"/passes"+path, body)
			var made struct{ Passes []struct{ Link string } }
			if a.status == http.StatusOK && json.Unmarshal(a.body, &made) == nil {
				w.history.add(Event{What: what, Who: nobody, Gate: 1, Pass: pass})
				if what == Made && len(made.Passes) == 1 {
					w.links.tell(pass, made.Passes[0].Link)
				}
				return
			}
		}
		wait(time.Second + time.Duration(pass)*1019*time.Microsecond)
	}
}

// endOf is when a pass ends, by what a gate knows that hears of a revocation within that time.
func (h *History) endOf(pass int, within time.Duration) time.Duration {
	ends := never
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Pass != pass:
		case e.What == Made:
			ends = e.At + h.Plan.Passes[pass-1].Lasts
		case e.What == Revoked:
			return min(ends, e.At+within)
		}
	}
	return ends
}

// revokedWithin is within which time all gates know of a pass that it was revoked.
const revokedWithin = 2 * time.Second

// checkUses finds passes that were used by more people than they are for, that were used after
// their end, or that nobody has made.
func checkUses(h *History, breach func(time.Duration, string, ...any)) {
	users := make([][]int, len(h.Plan.Passes))
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Used {
			continue
		}
		name, of := h.Plan.People[e.Of-1].Name, &users[e.Pass-1]
		if e.Text == forged || e.Sent > h.endOf(e.Pass, revokedWithin) && !h.clocksDiffer() {
			breach(e.At, "%s has used pass %d, which was %s, or had ended at %s", name, e.Pass, forged, moment(h.endOf(e.Pass, revokedWithin)))
			return
		}
		if !slices.Contains(*of, e.Of) {
			*of = append(*of, e.Of)
		}
		if most := h.Plan.Passes[e.Pass-1].Uses; len(*of) > most {
			breach(e.At, "%s is number %d of those who have used pass %d, which is for %d", name, len(*of), e.Pass, most)
			return
		}
	}
}

// checkOneHolder finds devices with one use of a pass that are not one visitor.
func checkOneHolder(h *History, breach func(time.Duration, string, ...any)) {
	ids, owners := map[int]queue.ID{}, map[queue.ID]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Pass == 0 || e.Who == nobody || e.Ticket.ID == (queue.ID{}) || e.At > h.endOf(e.Pass, 0) {
			continue
		}
		of, known := ids[e.Who]
		other, had := owners[e.Ticket.ID]
		if known && of != e.Ticket.ID || had && other != e.Who {
			breach(e.At, "%s has used pass %d, and is not one visitor with it", h.Plan.People[e.Who].Name, e.Pass)
			return
		}
		ids[e.Who], owners[e.Ticket.ID] = e.Ticket.ID, e.Who
	}
}

// withPass are those who waited as holders of a pass of a kind that had not ended, in methods in
// which that puts them ahead.
func (h *History) withPass(all []*track, of waitlist.PassKind) (list []*track) {
	if h.Plan.Settings.Method == queue.Random {
		return nil
	}
	passes, ends := h.passOf(), map[int]time.Duration{}
	for pass := range h.Plan.Passes {
		ends[pass+1] = h.endOf(pass+1, 0)
	}
	for _, t := range all {
		if pass := passes[t.who]; pass > 0 && h.Plan.Passes[pass-1].Kind == of && !t.broken && len(t.told) > 2 && t.told[len(t.told)-1].at < ends[pass] && h.quiet(t.came, t.told[len(t.told)-1].at) {
			list = append(list, t)
		}
	}
	return list
}

// goesBefore says whether an event is about somebody who may have a pass by which they go before
// others.
func (h *History) goesBefore(e *Event) bool { return kinds.find(h.Plan.People[e.Who].Kind).ahead }

// passOf is the pass that people used before they asked for anything else.
func (h *History) passOf() map[int]int {
	of := map[int]int{}
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Used {
			of[e.Of-1] = e.Pass
		}
	}
	return of
}

// pastHolder are those without a pass who were surely let in while a holder waited and who has
// asked since, in the time in which the slots that were kept were taken.
func (h *History) pastHolder(all []*track, passes map[int]int, t *track) (list []*track) {
	from, to := t.told[1].at+rumour, t.told[len(t.told)-1].at
	for _, b := range all {
		if b.isIn && passes[b.who] == 0 && len(b.told) > 0 && b.in.earliest >= from && b.in.latest+h.longestInterval() <= to {
			list = append(list, b)
		}
	}
	return list
}

// checkPassIn finds people without a pass who are let in while somebody waits whose pass has them
// take the next slot.
func checkPassIn(h *History, breach func(time.Duration, string, ...any)) {
	all, passes := tracks(h), h.passOf()
	for _, t := range h.withPass(all, waitlist.PassIn) {
		if past := h.pastHolder(all, passes, t); len(past) > 0 {
			breach(past[0].in.latest, "%s is let in, and %s, who has a pass to take the next slot, still waits at %s", h.Plan.People[past[0].who].Name,
				h.Plan.People[t.who].Name, moment(t.told[len(t.told)-1].at))
			return
		}
	}
}

// checkPassAhead finds people who wait with a pass that puts them ahead, while more than half of
// those who are let in have none. Slots that are open at once, and more than those need who have been
// put ahead by then, go to others meanwhile.
func checkPassAhead(h *History, breach func(time.Duration, string, ...any)) {
	all, passes := tracks(h), h.passOf()
	_, admitted := read(h)
	for _, t := range h.withPass(all, waitlist.PassAhead) {
		with, past := 0, h.pastHolder(all, passes, t)
		for _, b := range all {
			with += oneIf(b.isIn && passes[b.who] > 0 && b.in.latest >= t.told[0].at && b.in.earliest <= t.told[len(t.told)-1].at)
		}
		atOnce := 0
		for _, b := range past {
			atOnce = max(atOnce, mostWithin(admitted, b.in.latest, h.longestInterval()))
		}
		if most := with + 2 + atOnce; len(past) > most {
			breach(past[most].in.latest, "%d people without a pass are let in while %s waits, who has one, and %d others who have", len(past), h.Plan.People[t.who].Name, with)
			return
		}
	}
}

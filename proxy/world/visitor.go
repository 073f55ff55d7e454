package world

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// visitor is a person who has come.
type visitor struct {
	*Person
	*jar
	world        *world
	number       int
	random       *rand.Rand
	joined       time.Duration
	network      string        // see kind
	strange      bool          // see kind
	agent        string        // what their browser says it is
	copied       string        // the copy of a ticket that this is about; "" for none: see copy
	copies       int           // how many there have been
	passed       int           // the pass that they have used, from 1 on; 0 for none
	thawed       int           // how many tabs have been: see freeze
	offlineUntil time.Duration // nothing passes between them and the gates until then
	home         int           // the machine that they are sent to as a rule
}

func newVisitor(w *world, number int) *visitor {
	p := &w.plan.People[number]
	return &visitor{Person: p, jar: &jar{tabs: 1}, world: w, number: number, random: source(w.plan.Seed, fmt.Sprint("person ", p.Number))}
}

// live is a visitor's life.
func (v *visitor) live() {
	v.wait(v.Joins + v.upTo(time.Millisecond))
	if v.over() {
		return
	}
	v.joined, v.home = v.world.history.now(), v.random.IntN(len(v.world.machines))
	v.note(Event{What: Came})
	k := kinds.find(v.Kind)
	v.network, v.strange = networkOf(v.Person), k.strange
	k.live(v)
}

// upTo is a time below d.
func (v *visitor) upTo(d time.Duration) time.Duration {
	return time.Duration(v.random.Int64N(int64(d)))
}

// around is a time from half of d to one and a half of it.
func (v *visitor) around(d time.Duration) time.Duration { return d/2 + v.upTo(d) }

// wait waits, until the world ends at the latest.
func (v *visitor) wait(d time.Duration) {
	wait(min(d, max(v.world.plan.Lasts-v.world.history.now(), 0)+v.upTo(time.Second)))
}

// over says whether the world has ended.
func (v *visitor) over() bool { return v.world.history.now() >= v.world.plan.Lasts }

// note notes an event of this visitor.
func (v *visitor) note(e Event) {
	e.Who, e.Pass = v.number, v.passed
	if v.copied != "" {
		e = v.asCopied(e)
	}
	v.world.history.add(e)
}

// fedUp says whether the visitor's patience has ended.
func (v *visitor) fedUp() bool {
	return v.over() || v.Patience > 0 && v.world.history.now() >= v.joined+v.Patience
}

// waitMore waits for so long, or until the visitor's patience ends.
func (v *visitor) waitMore(d time.Duration) {
	if v.Patience > 0 {
		d = min(d, v.joined+v.Patience-v.world.history.now())
	}
	v.wait(max(d, 0) + v.upTo(time.Millisecond))
}

// giveUp ends the wait of a visitor whose patience has ended.
func (v *visitor) giveUp() {
	v.closes(v.Goodbye, "they are fed up")
}

// pageView is how long people look at a page on average.
const pageView = 8 * time.Second

// browse has a visitor who is in look at pages, and says whether they have seen all they wanted:
// they may be told to wait.
func (v *visitor) browse(accept string) bool {
	for until := v.world.history.now() + v.Browse; !v.over(); {
		v.wait(v.around(min(pageView, v.world.plan.Settings.SessionDuration/2)))
		if v.world.history.now() >= until {
			break
		}
		if a := v.ask(request{accept: accept}); a.waits() {
			return false
		}
	}
	v.closes(false, "they have seen all they wanted")
	return true
}

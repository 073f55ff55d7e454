package room

import (
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// pressures is how the origin is doing with the room's visitors, and what follows from it.
type pressures struct {
	meter *pressure.Meter

	mu      sync.Mutex // guards the following
	control pressure.Control
	shadow  pressure.Shadow
}

// look measures at a moment, if it is time, and returns the factor that the store is told.
func (p *pressures) look(at queue.Instant, rules *rules) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if period := p.control.Look(at, p.meter, &rules.Settings); period != nil && rules.Shadow {
		p.shadow.Note(period)
	}
	return p.control.Factor()
}

// follow takes in how the room stands, and forgets what was seen before a shadow mode that is over.
func (p *pressures) follow(st *queue.Status, rules *rules) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !rules.Shadow:
		p.shadow = pressure.Shadow{}
	case !st.Recovering:
		p.shadow.Follow(st)
	}
}

// Slowdown is by how much admissions are slowed, and why.
type Slowdown struct {
	Factor float64          // in force, of new_users_per_minute; 1 if they are not slowed
	Here   pressure.Figures // what this node has measured, and would do; zero if it measures nothing
}

// Slowed tells by how much admissions are slowed, because the origin is slow or fails.
func (r *Room) Slowed() Slowdown {
	s := Slowdown{Factor: r.conditions.factor()}
	if !r.conditions.rules.Load().Measures() {
		return s
	}
	r.pressures.mu.Lock()
	defer r.pressures.mu.Unlock()
	s.Here = r.pressures.control.Figures()
	return s
}

// OpenToAll reports whether the room lets everybody in and counts nobody, because the traffic has
// not passed queue_when.
func (r *Room) OpenToAll() bool { return r.conditions.openToAll(r.conditions.rules.Load()) }

// Proposal proposes limits by what this node has seen in shadow mode; false in a room without it,
// and while nobody has come.
func (r *Room) Proposal() (pressure.Proposal, bool) {
	r.pressures.mu.Lock()
	defer r.pressures.mu.Unlock()
	p, seen := r.pressures.shadow.Propose()
	return p, seen && r.conditions.rules.Load().Shadow
}

// Measures reports whether the requests of visitors who are in are measured on their way to the
// origin.
func (r *Room) Measures() bool { return r.conditions.rules.Load().Measures() }

// ToOrigin notes that a visitor's request for a path goes to the origin. FromOrigin ends it.
func (r *Room) ToOrigin(visitor queue.ID, path string) pressure.Trip {
	return r.pressures.meter.Begin(visitor, path)
}

// FromOrigin notes what became of a request, and how long that took.
func (r *Room) FromOrigin(t pressure.Trip, took time.Duration, what pressure.Outcome) {
	r.pressures.meter.End(t, took, what, r.conditions.rules.Load().AdmissionControlLatency)
}

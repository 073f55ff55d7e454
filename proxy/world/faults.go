package world

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// faultKind is a kind of fault.
type faultKind struct {
	name string
	draw func(p *Plan, r *rand.Rand) Fault // its Kind is filled in
	live func(w *world, f *Fault)          // from when it begins to when it is over
}

// faultsOfJournals befall gates that keep a journal.
var faultsOfJournals = []faultKind{
	{"kill -9", drawKill, kill},
	{"full disk", drawFull, full},
	{"disk fails", drawFull, failDisk},
	{"restart", drawKill, restartGate},
	{"power loss", drawPower, losePower},
}

// faultsOfGates befall gates with any store.
var faultsOfGates = []faultKind{
	{"gate stands still", drawPause, pause},
	{"machine busy", drawStalls, stalls},
	{"clock of a machine set", drawMoment, setMachineClock},
	{"clock drifts", drawDrift, drift},
	{"gate cut off from the balancer", drawWayCut, cutFront},
	{"gate cut off from the site", drawWayCut, cutSite},
	{"rolling restart", drawRolling, restartAll},
	{"file reloaded", drawMoment, reload},
	{newHeld, drawHold, holdNew},
	{limitLowered, drawChange, lowerLimit},
	{allowanceLowered, drawChange, lowerAllowance},
}

// faultKinds are all kinds that may befall a plan.
func (p *Plan) faultKinds() []faultKind {
	list := slices.Concat(faultsOfGates, faultsOfJournals)
	if p.Redis {
		list = slices.Concat(faultsOfGates, faultsOfRedis)
	}
	if p.Settings.Method != queue.Line { // whose numbers end with it
		list = append(list, faultKind{methodChanged, drawChange, changeMethod})
	}
	return list
}

// drawFaults draws what goes wrong: nothing in one plan of three.
func (p *Plan) drawFaults(r *rand.Rand) {
	for range []int{0, 1, 3}[r.IntN(3)] {
		k := p.faultKinds()[r.IntN(len(p.faultKinds()))]
		if p.Settings.OnStoreError == queue.Share && p.Redis && r.IntN(2) == 0 { // which nothing else shows
			k = faultKind{linkCut, drawFillingCut, cut}
		} else if p.Redis && r.IntN(5) == 0 { // the most frequent one
			k = faultKind{repliesLost, drawLosses, loseReplies}
		}
		f := k.draw(p, r)
		f.Kind = k.name
		p.Faults = append(p.Faults, f)
	}
	slices.SortStableFunc(p.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}

// moment is one at which a fault may begin.
func (p *Plan) moment(r *rand.Rand) time.Duration {
	return 5*time.Second + time.Duration(r.Int64N(int64(p.Lasts-5*time.Second)))
}

// suffer waits for a fault and has it happen.
func (w *world) suffer(f *Fault) {
	wait(f.At)
	for _, k := range w.plan.faultKinds() {
		if k.name == f.Kind {
			k.live(w, f)
			return
		}
	}
	panic("no kind of fault is called " + f.Kind)
}

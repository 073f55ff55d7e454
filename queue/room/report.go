package room

import (
	"maps"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// record is what a store that has lost its memory is told again. The exchange guards
// it.
type record struct {
	cells      map[queue.Cell]int // where this node counts people
	admitted   queue.Admissions   // by this node
	nodes      []uint64           // that the store knew
	lastNumber uint64             // the highest in an exact line
}

// grant takes in what became of a claim.
func (r *record) grant(at queue.Instant, c *queue.Claim, g *queue.Grant) {
	if g.LetIn() && !c.Newcomer() && !(c.KeepCell && g.Verdict == queue.Held) {
		r.cells[c.Cell]--
	}
	if g.Verdict != queue.Held && c.Moved != (queue.Cell{}) {
		r.cells[c.Moved]--
	}
	if g.Verdict == queue.Granted {
		r.admitted.Add(admission(at))
	}
	r.lastNumber = max(r.lastNumber, g.Place.Number)
}

// report takes in what is reported.
func (r *record) report(p *queue.Report) {
	r.admitted.Add(p.Admitted)
	for _, c := range p.Cells {
		r.cells[c.Cell] += c.People
	}
}

// forget forgets the cells in which nobody is counted any more.
func (r *record) forget(at queue.Instant) {
	maps.DeleteFunc(r.cells, func(c queue.Cell, people int) bool { return people == 0 || c.Until <= at })
}

// counts are the people in all cells.
func (r *record) counts() []queue.CellChange {
	list := make([]queue.CellChange, 0, len(r.cells))
	for c, people := range r.cells {
		list = append(list, queue.CellChange{Cell: c, People: people})
	}
	return list
}

// report gathers what is unreported, or all there is to tell. The caller holds
// mu.
func (x *exchange) report(now time.Time) *queue.Report {
	at, c := x.clock.at(now), x.conditions.rules.Load().configuration
	x.seq++
	x.estimates.Reported(at)
	p := &queue.Report{Node: x.node, Seq: x.seq, Now: at, Epoch: x.epoch, Since: x.since, Version: c.Version,
		LastNumber: x.record.lastNumber, Cells: x.presence.drain(), Factor: x.pressures.look(at, x.conditions.rules.Load())}
	p.Sessions, p.Revoked = x.sessions.drain(at)
	p.Final = x.sessions.final()
	x.outbox.drainInto(p)
	p.Newcomers = int(x.conditions.newcomers.Swap(0))
	x.record.report(p)
	if x.storeHasForgotten() {
		p.Configuration, p.Version = c, 0 // so that the store answers with the one that it then has
	}
	if x.wantsWhole {
		x.record.forget(at)
		known := x.conditions.view.Load().synced
		p.Stock, p.Boundaries = p.Stock.Later(known.Stock), known.Boundaries
		p.Whole, p.Nodes, p.Admitted, p.Cells = true, x.record.nodes, x.record.admitted, x.record.counts()
		p.Sessions, p.Revoked = x.sessions.all(x.conditions.rules.Load().sessionsAt(at))
		x.postpone(at, p.Sessions)
	}
	x.wantsWhole, x.storeIsBehind = false, false
	return p
}

// postpone has sessions that stand still end as if the hold ended at that moment, which is how a store is told of them.
func (x *exchange) postpone(at queue.Instant, sessions []queue.Session) {
	rules := x.conditions.rules.Load()
	if !rules.HoldsActive() {
		return
	}
	for i, s := range sessions {
		sessions[i].Expires = at.Add(min(s.Expires.Sub(rules.sessionsAt(at)), rules.sessionLasts()))
	}
}

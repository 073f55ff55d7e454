package room

import (
	"maps"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// memory is what a store that has lost its memory is told again. The exchange guards
// it.
type memory struct {
	cells      map[queue.Cell]int // where this node counts people
	admitted   queue.Admissions   // by this node
	nodes      []uint64           // that the store knew
	lastNumber uint64             // the highest in an exact line
}

// grant takes in what became of a claim.
func (m *memory) grant(at queue.Instant, c *queue.Claim, g *queue.Grant) {
	if g.LetIn() && !c.Newcomer() && !(c.KeepCell && g.Verdict == queue.Held) {
		m.cells[c.Cell]--
	}
	if g.Verdict != queue.Held && c.Moved != (queue.Cell{}) {
		m.cells[c.Moved]--
	}
	if g.Verdict == queue.Granted {
		m.admitted.Add(admission(at))
	}
	m.lastNumber = max(m.lastNumber, g.Place.Number)
}

// report takes in what is reported.
func (m *memory) report(p *queue.Report) {
	m.admitted.Add(p.Admitted)
	for _, c := range p.Cells {
		m.cells[c.Cell] += c.People
	}
}

// trim forgets, from time to time, the cells in which nobody is counted any more.
func (m *memory) trim(syncs int, at queue.Instant) {
	if syncs%shards == 0 {
		m.forget(at)
	}
}

// forget forgets the cells in which nobody is counted any more.
func (m *memory) forget(at queue.Instant) {
	maps.DeleteFunc(m.cells, func(c queue.Cell, people int) bool { return people == 0 || c.Until <= at })
}

// counts are the people in all cells.
func (m *memory) counts() []queue.CellChange {
	list := make([]queue.CellChange, 0, len(m.cells))
	for c, people := range m.cells {
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
		LastNumber: x.memory.lastNumber, Cells: x.presence.drain(), Factor: x.pressures.look(at, x.conditions.rules.Load())}
	p.Sessions, p.Revoked = x.sessions.drain(at)
	p.Final = x.sessions.final()
	x.outbox.drainInto(p)
	if x.wantsWhole {
		x.notes.tellAgain()
	}
	p.Notes = x.notes.drain()
	p.Newcomers = int(x.conditions.newcomers.Swap(0))
	x.memory.report(p)
	if x.storeHasForgotten() {
		p.Configuration, p.Version = c, 0 // so that the store answers with the one that it then has
	}
	if x.wantsWhole {
		x.memory.forget(at)
		known := x.conditions.view.Load().synced
		p.Stock, p.Boundaries = p.Stock.Later(known.Stock), known.Boundaries
		p.Whole, p.Nodes, p.Admitted, p.Cells = true, x.memory.nodes, x.memory.admitted, x.memory.counts()
		p.Sessions, p.Revoked = x.sessions.all(x.conditions.rules.Load().sessionsAt(at))
		x.postpone(at, p.Sessions)
	}
	x.wantsWhole, x.storeIsBehind = false, false
	return p
}

// postpone has sessions that stand still end as if the hold ended at that moment, which is how a
// store is told of them.
func (x *exchange) postpone(at queue.Instant, sessions []queue.Session) {
	rules := x.conditions.rules.Load()
	if !rules.HoldsActive() {
		return
	}
	for i, s := range sessions {
		sessions[i].Expires = at.Add(min(s.Expires.Sub(rules.sessionsAt(at)), rules.sessionLasts()))
	}
}

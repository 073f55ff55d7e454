package world

import (
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// drawn is what an observer of everything knows of a ticket in a shuffled prequeue.
type drawn struct {
	who           int
	came          time.Duration
	before, after time.Duration // when anything was heard of it last before the start, and first after it
	placed        time.Duration // the place that it has then
	unaware       bool          // its visitor is told a place then, and not that it is another
	copied        bool          // its ticket was shown from elsewhere
	beyond        bool          // it was one too many of its network: each check-in was an arrival
}

// entries are those of a sale, in the order in which they came.
func entries(h *History) (list []*drawn) {
	all, start := map[queue.ID]*drawn{}, h.Plan.Sale.Start
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Waits && (e.What != Copied || e.Outcome != Waits) || e.Ticket.State != queue.Waiting {
			continue
		}
		t := all[e.Ticket.ID]
		switch {
		case t == nil && e.At < start:
			t = &drawn{who: e.Who, came: e.Ticket.Arrived, before: e.At, after: -1}
			all[e.Ticket.ID], list = t, append(list, t)
		case t == nil || t.after >= 0:
			continue
		case e.At < start, e.Sent < start: // by a stream, or by what was under way
			t.before, t.beyond = min(e.At, start), t.beyond || e.Ticket.Arrived != t.came
		default:
			t.after, t.placed, t.unaware = e.At, e.Ticket.Placed, e.Room.InWaitingRoom && !e.Room.Rejoined
		}
		t.copied = t.copied || e.What == Copied
	}
	return list
}

// checkDraw finds entries of a shuffled prequeue that are in the draw though their check-ins had
// lapsed, others that are out of it, networks that have more of them in it than they may have
// waiting, and a draw that goes by the arrival.
func checkDraw(h *History, breach func(time.Duration, string, ...any)) {
	sale, in := &h.Plan.Sale, map[string]int{}
	if !sale.Shuffle || h.clocksDiffer() {
		return
	}
	var all []*drawn
	for _, t := range entries(h) {
		if t.after < 0 || t.came < sale.Prequeue+rumour || !h.quiet(t.came, t.after) {
			continue
		}
		if wrong := h.wrongly(t); wrong != "" {
			breach(t.after, "%s %s", h.Plan.People[t.who].Name, wrong)
			return
		}
		if t.placed < sale.Start {
			in[networkOf(&h.Plan.People[t.who])]++
			all = append(all, t)
		}
		if most := h.Plan.Settings.MaxWaitingPerNetwork * h.Plan.Gates; most > 0 && in[networkOf(&h.Plan.People[t.who])] > most {
			breach(t.after, "the network of %s has more entries in the draw than the %d that may wait of it", h.Plan.People[t.who].Name, most)
			return
		}
	}
	if n := len(all); n > 30 && math.Abs(correlation(all))*math.Sqrt(float64(n-1)) > 6 {
		breach(sale.Start, "the places of %d entries go by when they came: the correlation is %.2f", n, correlation(all))
	}
}

// wrongly says what is wrong with an entry that is in the draw, or out of it; "" for nothing.
func (h *History) wrongly(t *drawn) string {
	start, s := h.Plan.Sale.Start, &h.Plan.Settings
	lapses := time.Duration(float64(s.RefreshInterval)*(1.25+s.RefreshJitter)) + 4*time.Second
	switch isIn := t.placed < start; {
	case isIn && t.before < start-lapses && !kinds.find(h.Plan.People[t.who].Kind).freezes: // the stream of a frozen page may be open
		return "has the place that was drawn for an entry of which nothing was heard after " + moment(t.before)
	case isIn || t.copied || t.beyond || kinds.find(h.Plan.People[t.who].Kind).freezes: // nor has it the cookie that a stream's end before the start would have it get
	case t.unaware:
		return "is out of the draw, and is not told so"
	case t.before >= start-s.RefreshInterval && s.MaxWaitingPerNetwork == 0:
		return "is out of the draw, and was present at " + moment(t.before)
	}
	return ""
}

// mayEnd says whether a place may have ended that a visitor had before: it was drawn, and they were
// not present at the start, or it is one of too many of a network. See checkDraw.
func (p *Plan) mayEnd(who int, before, now *Ticket) bool {
	return p.Settings.MaxWaitingPerNetwork > 0 && kinds.find(p.People[who].Kind).several || p.Sale.Shuffle && before.Arrived < p.Sale.Start && now.Arrived >= p.Sale.Start
}

// correlation is Spearman's, of when the visitors of entries came and what was drawn for them.
func correlation(all []*drawn) float64 {
	rank := func(less func(a, b *drawn) int) map[*drawn]int {
		sorted, ranks := slices.Clone(all), map[*drawn]int{}
		slices.SortFunc(sorted, less)
		for i, t := range sorted {
			ranks[t] = i
		}
		return ranks
	}
	came := rank(func(a, b *drawn) int { return int(a.came - b.came) })
	placed := rank(func(a, b *drawn) int { return int(a.placed - b.placed) })
	n, sum := float64(len(all)), 0.
	for _, t := range all {
		d := float64(came[t] - placed[t])
		sum += d * d
	}
	return 1 - 6*sum/(n*(n*n-1))
}

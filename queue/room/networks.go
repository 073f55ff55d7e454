package room

import (
	"maps"
	"net/netip"
	"sync"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// networks are whose places count in line at this node, of each network, in a room with
// MaxWaitingPerNetwork. Without it they are never asked.
type networks struct {
	mu       sync.Mutex
	counting map[netip.Prefix]ofNetwork
	swept    int // how many networks were left by the last sweep
}

// ofNetwork are the places of a network that count.
type ofNetwork map[queue.ID]countingPlace

// countingPlace is a place that counts: until when, and since when its visitor waits.
type countingPlace struct{ until, since queue.Instant }

// bound is how many places of a network may count, or of all networks of an IPv6 /48.
type bound struct {
	of   netip.Prefix
	most int
}

// boundsOf are the bounds of a network of which so many may count.
func boundsOf(network netip.Prefix, most int) []bound {
	if site, err := network.Addr().Prefix(48); err == nil && network.Addr().Is6() && network.Bits() > site.Bits() {
		return []bound{{network, most}, {site, queue.OfSite * most}}
	}
	return []bound{{network, most}}
}

// counts reports whether the place of id counts, until a moment, because fewer than most others
// of the network do, or it did before, or its visitor came earlier than one of the others. So all
// nodes have the same places count in the end, whichever of them visitors ask.
func (n *networks) counts(at queue.Instant, network netip.Prefix, id queue.ID, place countingPlace, most int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.counting == nil {
		n.counting = map[netip.Prefix]ofNetwork{}
	}
	if len(n.counting) > 2*n.swept+1024 {
		n.sweep(at)
	}
	bounds := boundsOf(network, most)
	for _, b := range bounds {
		if !n.counting[b.of].hasRoom(at, id, place.since, b.most) {
			n.forget(bounds, id)
			return false
		}
	}
	for _, b := range bounds {
		if n.counting[b.of] == nil {
			n.counting[b.of] = ofNetwork{}
		}
		n.counting[b.of].take(id, place, b.most)
	}
	return true
}

// hasRoom reports whether the place of a visitor who waits since a moment may count.
func (of ofNetwork) hasRoom(at queue.Instant, id queue.ID, since queue.Instant, most int) bool {
	if len(of) >= most && of[id].until <= at {
		of.forgetPast(at)
	}
	if _, counted := of[id]; counted || len(of) < most {
		return true
	}
	_, latest := of.last()
	return latest > since
}

// take has a place count that may. If as many others count as may, that of the visitor who came
// last counts no more.
func (of ofNetwork) take(id queue.ID, place countingPlace, most int) {
	before, counted := of[id]
	switch {
	case counted:
		place.since, place.until = min(place.since, before.since), max(place.until, before.until)
	case len(of) >= most:
		last, _ := of.last()
		delete(of, last)
	}
	of[id] = place
}

// last is who came last of those whose places count, and when.
func (of ofNetwork) last() (last queue.ID, latest queue.Instant) {
	for id, place := range of {
		if place.since > latest {
			last, latest = id, place.since
		}
	}
	return last, latest
}

// leave has the place of id count no more.
func (n *networks) leave(network netip.Prefix, id queue.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(boundsOf(network, 0), id)
}

func (n *networks) forget(bounds []bound, id queue.ID) {
	for _, b := range bounds {
		delete(n.counting[b.of], id)
	}
}

// sweep forgets the networks of which nobody counts any more. The caller holds mu.
func (n *networks) sweep(at queue.Instant) {
	maps.DeleteFunc(n.counting, func(_ netip.Prefix, of ofNetwork) bool {
		of.forgetPast(at)
		return len(of) == 0
	})
	n.swept = len(n.counting)
}

func (of ofNetwork) forgetPast(at queue.Instant) {
	maps.DeleteFunc(of, func(_ queue.ID, place countingPlace) bool { return place.until <= at })
}

// limitsNetwork reports whether only so many places of the visitor's network count.
func (s situation) limitsNetwork() bool {
	return s.rules.MaxWaitingPerNetwork > 0 && s.Network.IsValid()
}

// waitsSince is when the visitor of a waiting ticket came whose place counts at a node until now.
// The place of one who has missed a check-in counts, if it does, from now on.
func (s situation) waitsSince() queue.Instant {
	if s.Ticket.CountedUntil <= s.at {
		return s.at
	}
	return s.Ticket.Came()
}

// isBeyond reports whether the place of an id, who waits since a moment, does not count, because as
// many of its network do as may: its visitor waits behind everybody else, until one of the others
// has gone in or left.
func (v visit) isBeyond(id queue.ID, since queue.Instant) bool {
	if !v.limitsNetwork() {
		return false
	}
	lasts := v.rules.ReturnsWithin()
	if v.Ticket.State == queue.Waiting {
		_, rarely := v.aim(v.bucketOf(v.Ticket.ArrivedAt))
		lasts = max(lasts, v.rules.ReturnsAfter(rarely))
	}
	if v.Ask.isHidden() {
		lasts = max(lasts, hiddenInterval+v.rules.CheckInSlack())
	}
	lasts += v.rules.CheckInSlack() + claimTakes // and to the end of the window in which its visitor counts
	return !v.networks.counts(v.at, v.Network, id, countingPlace{v.at.Add(lasts), since}, v.rules.MaxWaitingPerNetwork)
}

// waitBeyond decides about a visitor whose place does not count: a slot may be theirs as it may
// be a newcomer's, once they are due.
func (v visit) waitBeyond() (Decision, *pending) {
	v.presence.leave(v.at, &v.Ticket)
	if v.at < v.Ticket.Due() {
		return Decision{Outcome: Queued, Ticket: v.Ticket, Early: true}, nil
	}
	if v.Ask.Slot == NoSlot || !v.conditions.worthAsking(v.at, v.rules, newcomer) {
		return v.stayBeyond(v.Ticket), nil
	}
	p := v.pending(v.newcomersClaim(v.Ticket.ID))
	p.ticket, p.beyond, p.claim.NoPlace = v.Ticket, true, true
	return Decision{}, p
}

// stayBeyond has such a visitor wait on, behind all who have come until now.
func (v visit) stayBeyond(t queue.Ticket) Decision {
	drawn := t.CameAt != 0
	t = queue.Ticket{State: queue.Waiting, ID: t.ID, ArrivedAt: v.at, AcceptedAt: t.AcceptedAt, LastCheckIn: v.at,
		RefreshInterval: v.random.interval(&v.rules.Settings), Moved: t.Moved}
	return Decision{Outcome: Queued, Ticket: t, Issue: true, Rejoined: drawn}
}

package world

import (
	"fmt"
	"math/rand/v2"
)

// kind is a kind of visitor.
type kind struct {
	name  string
	share int            // how many of them come, beside those of the others
	live  func(*visitor) // from when they come to when they leave

	first   bool   // they come before the crowd
	network string // that all of them have; "" if each has one of their own
	strange bool   // they send no ticket back: what they are told is about somebody else each time
	several bool   // more than one place of their network may count: of several people, or of tabs that come at once with a ticket that was used
	freezes bool   // their page may be let in while it is frozen, and says nothing
	polite  bool   // they ask when they are told to, from one device, until they are let in
	ahead   bool   // they may have a pass that puts them ahead of others
	hasty   bool   // they ask sooner than they are told to, from one device
}

// networkOf is the network of a person.
func networkOf(p *Person) string {
	if shared := kinds.find(p.Kind).network; shared != "" {
		return shared
	}
	return ownNetwork(p.Number)
}

// ownNetwork is the network of somebody who has one of their own, by their number.
func ownNetwork(number int) string { return fmt.Sprintf("10.%d.%d", number>>8, number&255) }

// kindList are all kinds.
type kindList []kind

var kinds = kindList{
	{name: "page", share: 8, live: (*visitor).page, polite: true},
	{name: "app", share: 4, live: (*visitor).app, polite: true},
	{name: "stream", share: 8, live: (*visitor).streamer, polite: true},
	{name: "sleeper", share: 2, live: (*visitor).sleeper},
	{name: "reloader", share: 1, live: (*visitor).reloader, hasty: true},
	{name: "tabs", share: 2, live: (*visitor).severalTabs, several: true},
	{name: "impatient", share: 1, live: (*visitor).impatient, hasty: true},
	{name: "traveller", share: 1, live: (*visitor).traveller, several: true},
	{name: "frozen", share: 1, live: (*visitor).frozen, several: true, freezes: true},
	{name: "buyer", share: 1, live: (*visitor).buyer},
	{name: "mover", share: 1, live: (*visitor).mover, several: true},
	{name: "replayer", share: 1, live: (*visitor).replayer, several: true},
	{name: "hoarder", share: 1, live: (*visitor).hoarder, first: true, network: "10.255.255", several: true},
	{name: "grinder", share: 1, live: (*visitor).grinder, several: true},
	{name: "phantom", share: 1, live: (*visitor).phantom, strange: true},
	{name: "crawler", share: 1, live: (*visitor).crawler, strange: true},
	{name: "leech", share: 1, live: (*visitor).leech, strange: true},
	{name: "watcher", share: 1, live: (*visitor).watcher},
	{name: "neighbour", share: 1, live: (*visitor).page, network: "10.255.254", several: true},
	{name: "lingerer", share: 1, live: (*visitor).lingerer},
	{name: "caller", live: (*visitor).caller, freezes: true}, // see drawCalls
	{name: "holder", live: (*visitor).holder, ahead: true},   // see drawPasses
}

// draw draws a kind.
func (l kindList) draw(r *rand.Rand) kind {
	all := 0
	for _, k := range l {
		all += k.share
	}
	n := r.IntN(all)
	for _, k := range l {
		if n -= k.share; n < 0 {
			return k
		}
	}
	panic("no kind of visitor has a share")
}

// find returns the kind of that name.
func (l kindList) find(name string) kind {
	for _, k := range l {
		if k.name == name {
			return k
		}
	}
	panic("no kind of visitor is called " + name)
}

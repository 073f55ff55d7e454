package world

import "math/rand/v2"

// kind is a kind of visitor.
type kind struct {
	name  string
	share int            // how many of them come, beside those of the others
	live  func(*visitor) // from when they come to when they leave

	first   bool // they come before the crowd, and all from one network
	strange bool // they send no ticket back: what they are told is about somebody else each time
	freezes bool // their page may be let in while it is frozen, and says nothing
}

// kindList are all kinds.
type kindList []kind

var kinds = kindList{
	{name: "page", share: 8, live: (*visitor).page},
	{name: "app", share: 4, live: (*visitor).app},
	{name: "stream", share: 8, live: (*visitor).streamer},
	{name: "sleeper", share: 2, live: (*visitor).sleeper},
	{name: "reloader", share: 1, live: (*visitor).reloader},
	{name: "tabs", share: 2, live: (*visitor).severalTabs},
	{name: "impatient", share: 1, live: (*visitor).impatient},
	{name: "traveller", share: 1, live: (*visitor).traveller},
	{name: "frozen", share: 1, live: (*visitor).frozen, freezes: true},
	{name: "buyer", share: 1, live: (*visitor).buyer},
	{name: "mover", share: 1, live: (*visitor).mover},
	{name: "replayer", share: 1, live: (*visitor).replayer},
	{name: "hoarder", share: 1, live: (*visitor).hoarder, first: true},
	{name: "grinder", share: 1, live: (*visitor).grinder},
	{name: "phantom", share: 1, live: (*visitor).phantom, strange: true},
	{name: "crawler", share: 1, live: (*visitor).crawler, strange: true},
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

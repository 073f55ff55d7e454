package room

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Config is what a Room is made of.
type Config struct {
	Name     string         // required; letters, digits, -, _ and .
	Settings queue.Settings // zero durations take their defaults
	Store    queue.Store    // required; outlives the Room

	// Gather is how long claims of people who wait are collected before they are
	// put to the store in one call; default none, which suits a store in the
	// same process. Newcomers to an open room do not wait for it.
	Gather time.Duration

	// Slack is how much longer than it is told the store counts sessions; default
	// none, which suits a store in the same process.
	Slack time.Duration

	// Uint64 is the source of ids and jitter; default math/rand/v2's.
	Uint64 func() uint64

	// Clock is the node's clock, which never goes back and by which the room's
	// methods are told now; default the latest now that one was told. It is
	// read where a call may have waited.
	Clock func() time.Time

	// Wait is how a call waits: until it has received from ready, or until atMost
	// has passed, if that is positive. The default waits in real time.
	Wait func(ready <-chan struct{}, atMost time.Duration)

	// OnStoreChange, if set, is told once when the store stops answering, with
	// the error, and once with nil when it answers again.
	OnStoreChange func(err error)

	// OnConfigure, if set, is told of every configuration that another node has
	// given the room.
	OnConfigure func(queue.Configuration)

	// OnEnter, if set, is told of every visitor who was let in at another node: one who waits here all
	// the same is found to be in by a visit.
	OnEnter func(queue.ID)

	// OnLeave, if set, is told of every visitor who has said goodbye, at whichever
	// node: for one who is here all the same, a visit with Returned takes it back.
	OnLeave func(queue.ID)

	// OnBurst, if set, is told when so many people have joined the line here that the other
	// nodes should hear of it with a Sync at once, to tell people's places rightly. It is told
	// by visits, and must not wait for anything.
	OnBurst func()

	// Draw, if set, is asked for the moment at which the visitor of an id counts as arrived who
	// joins the shuffled prequeue of an event. It may be asked about an id again, and has the same
	// answer. 0 leaves the visitor the true moment.
	Draw func(e queue.ActiveEvent, id queue.ID) queue.Instant

	// OnDrawn, if set, is told the ticket of a visitor who comes back with a drawn place for the
	// first time, before they can be let in by it. It may be told a ticket again.
	OnDrawn func(t queue.Ticket)
}

// complete returns c with what it leaves out; it fails if something is wrong with it.
func (c Config) complete() (Config, error) {
	if c.Name == "" || c.Store == nil {
		return c, errors.New("a room needs a name and a store")
	}
	c.Settings = c.Settings.WithDefaults()
	if err := c.Settings.Validate(); err != nil {
		return c, fmt.Errorf("configuring room %q: %w", c.Name, err)
	}
	c.Store = guarded{c.Store}
	if c.Uint64 == nil {
		c.Uint64 = rand.Uint64
	}
	if c.OnStoreChange == nil {
		c.OnStoreChange = func(error) {}
	}
	if c.OnConfigure == nil {
		c.OnConfigure = func(queue.Configuration) {}
	}
	if c.OnBurst == nil {
		c.OnBurst = func() {}
	}
	if c.OnDrawn == nil {
		c.OnDrawn = func(queue.Ticket) {}
	}
	if c.Draw == nil {
		c.Draw = func(queue.ActiveEvent, queue.ID) queue.Instant { return 0 }
	}
	if c.OnEnter == nil {
		c.OnEnter = func(queue.ID) {}
	}
	if c.OnLeave == nil {
		c.OnLeave = func(queue.ID) {}
	}
	return c, nil
}

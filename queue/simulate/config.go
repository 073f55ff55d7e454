package simulate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// Config is a crowd and the room that it comes to. Article returns one that is
// complete.
type Config struct {
	// Room are the limits and switches; zero durations take the queue's
	// defaults.
	Room queue.Settings

	Visitors int           // how many come, bots and spammers among them; at least 1, at most 100 million
	Arrivals Arrivals      // how they spread over Over
	Over     time.Duration // in which they come; from a second to 30 days

	// Stays say who comes and for how long, in the order in which they come, if Arrivals is
	// Recorded: see Replay. Browse is then not used.
	Stays []Stay

	// Spoofed says that everyone joins an empty room at once, with a ticket that
	// puts their arrival somewhere in the time before. The doors open when all
	// are in line.
	Spoofed bool

	Browse time.Duration // how long people stay once they are in, ± a tenth; at most a day

	GiveUp   float64       // share of people who lose patience, if they wait for long enough
	Patience time.Duration // how long those wait on average, exponentially; above 0 where somebody gives up
	Goodbye  float64       // share of those whose browser tells the gate that they leave

	Bots     float64 // share of visitors who keep no cookies
	Strays   float64 // requests a second of clients without cookies, each of which asks once; at most 1000
	Spammers float64 // share of visitors who ask SpamRate times an interval
	SpamRate int     // from 2 to 1000 where there are spammers

	Latency time.Duration // of a round trip on average, ± a half; at most 2s

	Nodes         int           // gates, each with its own memory; from 1 to 10,000
	Sticky        bool          // people stay at their node while it lives; otherwise any may get the next request
	StoreLatency  time.Duration // of a call to the store that the nodes share, in whole milliseconds; at most 500ms
	NodeDeaths    int           // nodes that die; at least two nodes then. A new one comes ten seconds later
	StoreFailures int           // times that the store does not answer for five seconds

	OriginCapacity int           // people on the site from which on it gets slower; 0 for an origin that takes no time
	OriginLatency  time.Duration // of a page up to there, on average; from 1ms to a minute

	Changes []Change // of the room's settings, as people come

	Seed uint64 // of all that is drawn at random

	// Progress, if set, is told now and then how many visitors are through.
	Progress func(done, total int)

	// estimate, if set, makes waits that are judged in place of those that the room tells.
	estimate func(*run) estimate.Wait
}

// Article returns the experiment of the 2021 article, with limits of 200 active
// users and 200 new ones a minute.
func Article() Config {
	return Config{
		Room: queue.Settings{
			TotalActiveUsers: 200, NewUsersPerMinute: 200, SessionDuration: 2 * time.Minute, RefreshJitter: .15, ConfirmWithin: time.Minute,
		}.WithDefaults(),
		Visitors: 10_000, Arrivals: Uniform, Over: 30 * time.Minute, Browse: time.Minute,
		Patience: 5 * time.Minute, Goodbye: .5, SpamRate: 10, Latency: 100 * time.Millisecond, Nodes: 1, Seed: 1,
		OriginLatency: 100 * time.Millisecond,
	}
}

// Stay is a visit of somebody: when they came, after the start, and how long they stayed once
// they were in.
type Stay struct{ At, For time.Duration }

// Replay returns c with a crowd that came once, in the order in which it did. When they came
// within their minutes tells when that was within those of the run.
func (c Config) Replay(stays []Stay) Config {
	c.Stays, c.Arrivals, c.Visitors, c.Browse = stays, Recorded, len(stays), 0
	if len(stays) > 0 {
		c.Over = max(stays[len(stays)-1].At.Truncate(time.Second), 0) + time.Second
	}
	return c
}

// Validate reports all that is out of bounds, joined; each error begins with the
// name of its setting.
func (c Config) Validate() error {
	errs := []error{c.Room.WithDefaults().Validate()}
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	share := func(name string, s float64) {
		require(s >= 0 && s <= 1, "%s is %v: must be a share from 0 to 1", name, s)
	}
	require(!c.Room.QueueAll, "queue_all is on: nobody would ever be let in")
	require(c.Visitors >= 1 && c.Visitors <= 100_000_000, "visitors is %d: must be from 1 to 100000000", c.Visitors)
	require(int(c.Arrivals) < len(arrivalNames), "arrivals is unknown")
	require((c.Arrivals == Recorded) == (len(c.Stays) > 0) && (len(c.Stays) == 0 || len(c.Stays) == c.Visitors), "arrivals is %s: recorded ones, and no others, have a stay for each visitor", c.Arrivals)
	require(len(c.Stays) == 0 || !c.Spoofed, "experiment is spoofed: no recorded crowd joins at once")
	require(c.Over >= time.Second && c.Over <= 30*24*time.Hour, "over is %v: must be from 1s to 720h", c.Over)
	require(c.Browse >= 0 && c.Browse <= 24*time.Hour, "browse is %v: must be from 0s to 24h", c.Browse)
	share("give_up", c.GiveUp)
	require(c.Patience > 0 || c.GiveUp == 0, "patience is %v: must be above 0s where somebody gives up", c.Patience)
	share("goodbye", c.Goodbye)
	share("bots", c.Bots)
	share("spammers", c.Spammers)
	require(!(c.Bots+c.Spammers > 1), "spammers is %v: must leave room for the share of bots, %v", c.Spammers, c.Bots)
	require(c.Bots < 1, "bots is %v: must leave somebody who can be let in", c.Bots)
	require(c.Strays >= 0 && c.Strays <= 1000, "cookieless is %v: must be from 0 to 1000", c.Strays)
	require(c.Spammers == 0 || c.SpamRate >= 2 && c.SpamRate <= 1000, "spam_rate is %d: must be from 2 to 1000", c.SpamRate)
	require(c.Latency >= 0 && c.Latency <= 2*time.Second, "latency is %v: must be from 0s to 2s", c.Latency)
	return errors.Join(slices.Concat(errs, c.validateNodes(), c.validateOrigin(), c.validateChanges())...)
}

func (c *Config) validateNodes() []error {
	var errs []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	require(c.Nodes >= 1 && c.Nodes <= 10_000, "nodes is %d: must be from 1 to 10000", c.Nodes)
	require(c.StoreLatency >= 0 && c.StoreLatency <= 500*time.Millisecond && c.StoreLatency%time.Millisecond == 0,
		"store_latency is %v: must be whole milliseconds from 0s to 500ms", c.StoreLatency)
	require(c.NodeDeaths >= 0 && c.NodeDeaths <= 10_000, "node_deaths is %d: must be from 0 to 10000", c.NodeDeaths)
	require(c.NodeDeaths == 0 || c.Nodes >= 2, "node_deaths is %d: needs at least 2 nodes", c.NodeDeaths)
	require(c.StoreFailures >= 0 && c.StoreFailures <= 10_000, "store_failures is %d: must be from 0 to 10000", c.StoreFailures)
	require(c.StoreFailures == 0 || c.Room.OnStoreError == queue.Hold, "on_store_error is %v: only hold is simulated", c.Room.OnStoreError)
	return errs
}

package world

import (
	"hash/fnv"
	"sync/atomic"
	"time"
)

// link is what a call passes through. How long it takes is a hash of the seed, the link's name and
// the number of the call: those who use a link do not share a source of random numbers.
type link struct {
	seed          uint64
	calls         atomic.Uint64
	least, spread time.Duration
}

// longestCall is longer than a call takes on any link.
const longestCall = time.Second

// newLink returns a link on which a call takes from least to most, which is below longestCall.
func newLink(seed uint64, name string, least, most time.Duration) *link {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return &link{seed: mix(seed, h.Sum64()), least: least, spread: most - least}
}

// takes is how long the next call takes.
func (l *link) takes() time.Duration {
	shake()
	return l.least + time.Duration(mix(l.seed, l.calls.Add(1))%uint64(l.spread))
}

// pass waits for as long as a call takes.
func (l *link) pass() { wait(l.takes()) }

// wait waits for virtual time to pass.
func wait(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the time of a bubble
}

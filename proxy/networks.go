package proxy

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"
)

// How many requests of one network, an IPv4 /24 or an IPv6 /56, pass uncounted.
const (
	uncountedPerSecond = 20
	uncountedBurst     = 200 // in no time, after some seconds with none
	uncountedUnderWay  = 50  // whose answers have not ended
)

// networks bounds what passes uncounted, by the network that it comes from. Its size
// is fixed, and who comes from many networks gets no more than all of it: networks
// share a place, each with one in 16,384 of the others.
type networks struct {
	seed   maphash.Seed
	places [16384]network
}

func newNetworks() *networks { return &networks{seed: maphash.MakeSeed()} }

// of returns the network of an address; the same one for all that are not known.
func (n *networks) of(addr netip.Addr) *network {
	bits := 24
	if addr.Is6() {
		bits = 56
	}
	prefix, _ := addr.Prefix(bits) // the zero Prefix for an address that is not known
	return &n.places[maphash.Comparable(n.seed, prefix)%uint64(len(n.places))]
}

// network is what has come from one of them.
type network struct {
	used     atomic.Int64 // until when it has used its rate (a leaky bucket, as in GCRA), in nanoseconds since 1970
	underWay atomic.Int32
}

// enter says whether a request may pass. If so, leave is to be called at its end.
func (n *network) enter(now time.Time) bool {
	if n.underWay.Add(1) <= uncountedUnderWay && n.use(now) {
		return true
	}
	n.leave()
	return false
}

func (n *network) leave() { n.underWay.Add(-1) }

// use takes one request off the network's rate, if there is one left.
func (n *network) use(now time.Time) bool {
	const each = time.Second / uncountedPerSecond
	for {
		used := n.used.Load()
		next := max(used, now.UnixNano()) + int64(each)
		if next-now.UnixNano() > int64(uncountedBurst*each) {
			return false
		}
		if n.used.CompareAndSwap(used, next) {
			return true
		}
	}
}

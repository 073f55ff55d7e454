// Package networks bounds what the network of an address may have: so many in a time, and so many
// at once.
package networks

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// What Enter allows one network, an IPv4 /24 or an IPv6 /56: requests that pass uncounted, or that
// have an address of it looked up. Its site may have queue.OfSite times as many.
const (
	uncountedPerSecond = 20
	uncountedBurst     = 200 // in no time, after some seconds with none
	uncountedUnderWay  = 50  // whose answers have not ended
)

// Bounds are what networks, and the sites that IPv6 networks are in, may have for one purpose. They
// have a fixed number of entries for each, and each network shares its entry with one in 16,384 of
// the others. Requests from very many networks get no more than all entries together.
type Bounds struct {
	seed           maphash.Seed
	entries, sites [16384]network
}

// New returns bounds of which nothing is used.
func New() *Bounds { return &Bounds{seed: maphash.MakeSeed()} }

// of returns the network of an address, and its site, nil for none. Addresses that are not known
// share a network.
func (n *Bounds) of(addr netip.Addr) (of, site *network) {
	prefix := Of(addr)
	of = &n.entries[n.index(prefix)]
	if around := SiteOf(prefix); around.IsValid() {
		site = &n.sites[n.index(around)]
	}
	return of, site
}

func (n *Bounds) index(prefix netip.Prefix) uint64 {
	return maphash.Comparable(n.seed, prefix) % uint64(len(n.entries))
}

// Of is the network of an address; the zero Prefix for an address that is not known.
func Of(addr netip.Addr) netip.Prefix {
	bits := 24
	if addr.Is6() {
		bits = 56
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}

// SiteOf is the IPv6 /48 that a network is in; the zero Prefix for one of IPv4, or that is not
// known.
func SiteOf(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is6() {
		return netip.Prefix{}
	}
	site, _ := network.Addr().Prefix(48)
	return site
}

// Spend takes one off what the network of an address may have, and off what its site may: one in
// the time each, and so many in no time after a while with none. It says whether there was one
// left. This machine has no limit: a proxy on it that is not trusted brings everybody.
func (n *Bounds) Spend(addr netip.Addr, now time.Time, each time.Duration, burst int) bool {
	addr = addr.Unmap()
	if addr.IsLoopback() {
		return true
	}
	of, site := n.of(addr)
	return of.spend(now, each, burst) && (site == nil || site.spend(now, each/queue.OfSite, burst*queue.OfSite))
}

// PerMinute is Spend for so many a minute.
func (n *Bounds) PerMinute(addr netip.Addr, now time.Time, most int) bool {
	return n.Spend(addr, now, time.Minute/time.Duration(most), most)
}

// Entry is something that is done for a network and its site, until its end.
type Entry struct{ of, site *network }

// Enter says whether something may be done for the network of an address. If it may, the caller
// calls Leave of the entry at its end.
func (n *Bounds) Enter(addr netip.Addr, now time.Time) (e Entry, ok bool) {
	e.of, e.site = n.of(addr)
	switch {
	case !e.of.enter(now, 1):
		return Entry{}, false
	case e.site != nil && !e.site.enter(now, queue.OfSite):
		e.of.underWay.Add(-1)
		return Entry{}, false
	}
	return e, true
}

// Leave ends it.
func (e Entry) Leave() {
	e.of.underWay.Add(-1)
	if e.site != nil {
		e.site.underWay.Add(-1)
	}
}

// network is what a network, or a site, has used up.
type network struct {
	spent    atomic.Int64 // until when its rate is spent (a leaky bucket, as in GCRA), in nanoseconds since 1970
	underWay atomic.Int32
}

// enter says whether a request may pass, where so many times what a network may have may. If it
// may, it is under way.
func (n *network) enter(now time.Time, times int) bool {
	if n.underWay.Add(1) <= int32(times*uncountedUnderWay) && n.spend(now, time.Second/time.Duration(times*uncountedPerSecond), times*uncountedBurst) {
		return true
	}
	n.underWay.Add(-1)
	return false
}

// spend takes one off the network's rate: one in the time each, and so many in no time after a
// while with none. It says whether there was one left.
func (n *network) spend(now time.Time, each time.Duration, burst int) bool {
	for {
		spent := n.spent.Load()
		next := max(spent, now.UnixNano()) + int64(each)
		if next-now.UnixNano() > int64(burst)*int64(each) {
			return false
		}
		if n.spent.CompareAndSwap(spent, next) {
			return true
		}
	}
}

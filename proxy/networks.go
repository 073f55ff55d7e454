package proxy

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// How many requests of one network, an IPv4 /24 or an IPv6 /56, pass uncounted, or have
// an address of it looked up. Its site may have queue.OfSite times as many.
const (
	uncountedPerSecond = 20
	uncountedBurst     = 200 // in no time, after some seconds with none
	uncountedUnderWay  = 50  // whose answers have not ended
)

// networks bounds what passes uncounted, and what is asked of DNS, by the network that it comes from, and by the site that an
// IPv6 network is in. It has a fixed number of entries for each, and each network shares its entry with one in 16,384 of the
// others. Requests from very many networks get no more than all entries together.
type networks struct {
	seed           maphash.Seed
	entries, sites [16384]network
}

func newNetworks() *networks { return &networks{seed: maphash.MakeSeed()} }

// of returns the network of an address, and its site, nil for none. Addresses that are not known share a network.
func (n *networks) of(addr netip.Addr) (of, site *network) {
	prefix := networkOf(addr)
	of = &n.entries[n.index(prefix)]
	if around := siteOf(prefix); around.IsValid() {
		site = &n.sites[n.index(around)]
	}
	return of, site
}

func (n *networks) index(prefix netip.Prefix) uint64 {
	return maphash.Comparable(n.seed, prefix) % uint64(len(n.entries))
}

// networkOf is the network of an address; the zero Prefix for an address that is not known.
func networkOf(addr netip.Addr) netip.Prefix {
	bits := 24
	if addr.Is6() {
		bits = 56
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}

// siteOf is the IPv6 /48 that a network is in; the zero Prefix for one of IPv4, or that is not known.
func siteOf(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is6() {
		return netip.Prefix{}
	}
	site, _ := network.Addr().Prefix(48)
	return site
}

// spend takes one off what the network of an address may have, and off what its site may: one in the time each, and so many in no time
// after a while with none. It says whether there was one left. This machine has no limit: a proxy on it that is not trusted brings
// everybody.
func (n *networks) spend(addr netip.Addr, now time.Time, each time.Duration, burst int) bool {
	addr = addr.Unmap()
	if addr.IsLoopback() {
		return true
	}
	of, site := n.of(addr)
	return of.spend(now, each, burst) && (site == nil || site.spend(now, each/queue.OfSite, burst*queue.OfSite))
}

// perMinute is spend for so many a minute.
func (n *networks) perMinute(addr netip.Addr, now time.Time, most int) bool {
	return n.spend(addr, now, time.Minute/time.Duration(most), most)
}

// entry is something that is done for a network and its site, until its end.
type entry struct{ of, site *network }

// enter says whether something may be done for the network of an address. If it may, the caller calls leave of the entry at its end.
func (n *networks) enter(addr netip.Addr, now time.Time) (e entry, ok bool) {
	e.of, e.site = n.of(addr)
	switch {
	case !e.of.enter(now, 1):
		return entry{}, false
	case e.site != nil && !e.site.enter(now, queue.OfSite):
		e.of.underWay.Add(-1)
		return entry{}, false
	}
	return e, true
}

func (e entry) leave() {
	e.of.underWay.Add(-1)
	if e.site != nil {
		e.site.underWay.Add(-1)
	}
}

// network is what has come uncounted from a network, or from a site.
type network struct {
	spent    atomic.Int64 // until when its rate is spent (a leaky bucket, as in GCRA), in nanoseconds since 1970
	underWay atomic.Int32
}

// enter says whether a request may pass, where so many times what a network may have may. If it may, it is under way.
func (n *network) enter(now time.Time, times int) bool {
	if n.underWay.Add(1) <= int32(times*uncountedUnderWay) && n.spend(now, time.Second/time.Duration(times*uncountedPerSecond), times*uncountedBurst) {
		return true
	}
	n.underWay.Add(-1)
	return false
}

// spend takes one request off the network's rate: one in the time each, and so many in no time after a while with none. It says
// whether there was one left.
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

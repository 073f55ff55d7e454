// Package netset is a set of networks, in which an address is found by binary search.
package netset

import (
	"cmp"
	"net/netip"
	"slices"
)

// Set is a set of networks. The zero value is empty. It is immutable.
type Set struct {
	ranges []addresses // in order; none overlaps another
}

// addresses are those of a network.
type addresses struct{ first, last netip.Addr }

// New returns the set of some networks. IPv4 networks that are written as IPv6 count as IPv4.
func New(networks []netip.Prefix) Set {
	all := make([]addresses, 0, len(networks))
	for _, n := range networks {
		if n.Addr().Is4In6() && n.Bits() >= 96 {
			n = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96)
		}
		all = append(all, addresses{n.Masked().Addr(), last(n)})
	}
	slices.SortFunc(all, func(a, b addresses) int { return cmp.Or(a.first.Compare(b.first), b.last.Compare(a.last)) })
	// Of two networks one holds the other, or they have nothing in common.
	var s Set
	for _, a := range all {
		if n := len(s.ranges); n == 0 || s.ranges[n-1].last.Less(a.last) {
			s.ranges = append(s.ranges, a)
		}
	}
	return s
}

// last returns the last address of a network.
func last(n netip.Prefix) netip.Addr {
	bytes := n.Addr().AsSlice()
	for i := n.Bits(); i < len(bytes)*8; i++ {
		bytes[i/8] |= 0x80 >> (i % 8)
	}
	addr, _ := netip.AddrFromSlice(bytes)
	return addr
}

// IsEmpty says whether there are no networks in the set.
func (s Set) IsEmpty() bool { return len(s.ranges) == 0 }

// Contains says whether an address is in one of the networks. The address of an IPv6 network may
// not have a zone, and one of an IPv4 network may not be written as IPv6.
func (s Set) Contains(addr netip.Addr) bool {
	i, found := slices.BinarySearchFunc(s.ranges, addr, func(r addresses, addr netip.Addr) int { return r.first.Compare(addr) })
	return found || i > 0 && addr.Compare(s.ranges[i-1].last) <= 0
}

package feature

import (
	"net/netip"
	"sync/atomic"
)

// Once says whether the log has a warning: one for an address of a private network, which is hardly
// a visitor's, and one for any other. So a stranger who causes it does not use up the warning of
// the gate's own load balancer.
type Once struct{ near, far atomic.Bool }

// First says whether nobody of the peer's kind was warned of before.
func (o *Once) First(peer netip.Addr) bool {
	if IsNear(peer) {
		return !o.near.Swap(true)
	}
	return !o.far.Swap(true)
}

// Done says whether the log has both warnings.
func (o *Once) Done() bool { return o.near.Load() && o.far.Load() }

// IsNear says whether an address is of a private network.
func IsNear(peer netip.Addr) bool {
	return peer.IsPrivate() || peer.IsLoopback() || peer.IsLinkLocalUnicast()
}

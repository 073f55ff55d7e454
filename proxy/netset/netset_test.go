package netset_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/netset"
)

func TestAnEmptySetHasNobody(t *testing.T) {
	assert.True(t, netset.New(nil).IsEmpty())
	assert.False(t, netset.Set{}.Contains(netip.MustParseAddr("192.0.2.1")))
	assert.False(t, netset.Set{}.Contains(netip.Addr{}))
}

func TestASetIsThatOfItsNetworks(t *testing.T) {
	s := netset.New([]netip.Prefix{
		netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("10.1.0.0/16"),
		netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("::ffff:198.51.100.0/120"), netip.MustParsePrefix("203.0.113.7/32"),
	})
	assert.False(t, s.IsEmpty())
	for addr, want := range map[string]bool{
		"192.0.2.0": true, "192.0.2.255": true, "192.0.1.255": false, "192.0.3.0": false, "10.1.2.3": true, "10.2.0.0": true, "10.255.255.255": true, "11.0.0.0": false,
		"2001:db8::1": true, "2001:db9::": false, "198.51.100.9": true, "203.0.113.7": true, "203.0.113.8": false, "::": false, "0.0.0.0": false, "255.255.255.255": false,
	} {
		assert.Equal(t, want, s.Contains(netip.MustParseAddr(addr)), addr)
	}
	assert.False(t, s.Contains(netip.Addr{}))
}

func TestEverybodyIsInTheWholeNetwork(t *testing.T) {
	s := netset.New([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("192.0.2.0/24")})
	assert.True(t, s.Contains(netip.MustParseAddr("255.255.255.255")))
	assert.False(t, s.Contains(netip.MustParseAddr("::1")))
}

// An address is in the set if and only if it is in one of the networks.
func TestRandomSets(t *testing.T) {
	// Few different bytes make networks that hold each other.
	addr := rapid.Custom(func(t *rapid.T) netip.Addr {
		bytes := make([]byte, rapid.SampledFrom([]int{4, 16}).Draw(t, "length"))
		for i := range bytes {
			bytes[i] = rapid.SampledFrom([]byte{0, 1, 0x80, 0xff}).Draw(t, "byte")
		}
		a, _ := netip.AddrFromSlice(bytes)
		return a.Unmap()
	})
	network := rapid.Custom(func(t *rapid.T) netip.Prefix {
		a := addr.Draw(t, "network")
		return netip.PrefixFrom(a, rapid.IntRange(0, a.BitLen()).Draw(t, "bits"))
	})
	rapid.Check(t, func(t *rapid.T) {
		networks, a := rapid.SliceOf(network).Draw(t, "networks"), addr.Draw(t, "address")
		want := false
		for _, n := range networks {
			want = want || n.Contains(a)
		}
		require.Equal(t, want, netset.New(networks).Contains(a))
	})
}

func BenchmarkContains(b *testing.B) {
	var networks []netip.Prefix
	addr := netip.MustParseAddr("10.0.0.0")
	for range 60_000 {
		networks = append(networks, netip.PrefixFrom(addr, 32))
		addr = addr.Next().Next()
	}
	s := netset.New(networks)
	b.ReportAllocs()
	for b.Loop() {
		s.Contains(addr)
	}
}

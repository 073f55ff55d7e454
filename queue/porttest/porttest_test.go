package porttest_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

func TestAnAddressIsFreeForWhoeverIsToldOfIt(t *testing.T) {
	address := porttest.Address(t)
	for range 2 {
		c, err := net.Dial("tcp", address)
		if !assert.Error(t, err, "nobody listens") {
			c.Close()
		}
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		c, err = net.Dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.NoError(t, l.Close())
	}
}

func TestNobodyElseIsGivenAnAddress(t *testing.T) {
	addresses := map[string]bool{}
	for range 100 {
		address := porttest.Address(t)
		assert.False(t, addresses[address], address)
		addresses[address] = true
	}
	for range 500 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		assert.NotContains(t, addresses, l.Addr().String())
	}
}

package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue/memstore"
	"github.com/anteroom-gate/anteroom/queue/storetest"
)

// grain is what ends of sessions are rounded up to.
const grain = 125 * time.Millisecond

func TestStoreInMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{Store: memstore.New(), Slack: grain}
	})
}

func TestStoreWithJournalKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		store, err := memstore.Open(t.TempDir())
		require.NoError(t, err)
		return storetest.Harness{Store: store, Slack: grain}
	})
}

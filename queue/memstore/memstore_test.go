package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/storetest"
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

func TestStoreOfSeveralNodesKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{Store: memstore.NewShared(0), Slack: grain}
	})
}

func TestStoreOfSeveralNodesCountsForTheSlackLonger(t *testing.T) {
	const slack = 2 * time.Second
	store := memstore.NewShared(slack)
	g := &gate{TB: t, store: store, node: 1, now: start}
	g.configure(queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 100, SessionDuration: time.Minute}.WithDefaults())
	g.count(3, cell(0, 30*time.Second))
	require.Equal(t, queue.Granted, g.claim(waiter(1, cell(0, 30*time.Second))))

	g.at(30*time.Second + slack - time.Millisecond)
	require.Equal(t, 2, g.look().Present)
	g.at(30*time.Second + slack)
	require.Zero(t, g.look().Present)

	g.at(time.Minute + slack - time.Millisecond)
	require.Equal(t, queue.Refused, g.claim(newcomer(2)))
	require.Equal(t, queue.Held, g.claim(newcomer(1)), "whoever comes back in the slack has their slot still")
	g.at(time.Minute + slack)
	require.Equal(t, queue.Granted, g.claim(newcomer(2)))
}

func TestSlotsAreGivenOnByReports(t *testing.T) {
	storetest.FinalReports(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{Store: memstore.NewShared(2 * time.Second), Slack: 2 * time.Second}
	})
}

func TestPlacesAndLimitsOutliveEventsWithAnotherMethod(t *testing.T) {
	storetest.ChangesOfMethod(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{Store: memstore.NewShared(2 * time.Second)}
	})
}

func TestExactLineIsLinearizable(t *testing.T) {
	for range 5 {
		storetest.Linearizable(t, storetest.Harness{Store: memstore.New(), Slack: grain})
	}
}

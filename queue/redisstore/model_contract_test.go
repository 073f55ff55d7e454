//go:build !race

package redisstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/fairdoor-gate/fairdoor/queue/storetest"
)

func TestTheModelKeepsTheContract(t *testing.T) {
	t.Parallel()
	shared := openModel(t)
	var rooms atomic.Int32
	storetest.Run(t, func(*testing.T) storetest.Harness {
		store := newClocked(shared)
		store.prefix = fmt.Sprint("case", rooms.Add(1), "-")
		return storetest.Harness{Store: store, SetClock: store.set, Slack: grain}
	})
}

package handover_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/handover"
)

func TestWhatIsGivenAsItEndsAndAfterwardsIsTakenToo(t *testing.T) {
	taken := map[int]bool{} // by one goroutine at a time
	q := handover.New(func(n int) error {
		taken[n] = true
		return nil
	})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var running, giving sync.WaitGroup
	running.Go(func() {
		q.Run(ctx, time.Now, func(lost int64) { t.Error(lost, "are lost") })
	})
	const givers, each = 4, 1000 // fewer than wait at most
	for giver := range givers {
		giving.Go(func() {
			for n := range each {
				if giver == 0 && n == each/2 {
					end()
				}
				q.Give(giver*each + n)
			}
		})
	}
	giving.Wait()
	running.Wait()
	q.Give(-1)
	assert.Len(t, taken, givers*each+1)
}

func TestWhatIsLostIsToldAsItBeginsAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		q := handover.New(func(int) error {
			<-stuck
			return nil
		})
		ctx, end := context.WithCancel(t.Context())
		var told []int64
		var running sync.WaitGroup
		running.Go(func() {
			q.Run(ctx, time.Now, func(lost int64) { told = append(told, lost) })
		})
		q.Give(0)
		synctest.Wait() // it is being taken
		for range handover.Most + 5 {
			q.Give(1)
		}
		<-time.After(2 * time.Second) // of the test's clock
		q.Give(2)
		end()
		running.Wait()
		close(stuck)
		assert.Equal(t, []int64{5, handover.Most + 6}, told)
	})
}

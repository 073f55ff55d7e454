package handover_test

import (
	"context"
	"sync"
	"testing"
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

package proxy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// TestTheStartOfAnEventIsNoStorm has 2,000 pages without event streams wait in a prequeue for a
// start that lets in all of them. Each checks in when it is told to, and is loaded again once it is
// let in.
func TestTheStartOfAnEventIsNoStorm(t *testing.T) {
	const people, step, before, after = 600, 100 * time.Millisecond, 60 * time.Second, 40 * time.Second
	f := gatetest.Start(t, gatetest.Planned(gatetest.SaleAt(gatetest.Opening.Add(5*time.Minute), 5*time.Minute, false)), gatetest.Settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.NewUsersPerMinute = 2*people, 1_000_000
	}))
	f.Clock.Add(5*time.Minute - before)
	gatetest.Stands(t, "event_prequeueing", f)
	type page struct {
		*gatetest.Visitor
		next time.Duration
	}
	var pages []page
	requests := make([]int, (before+after)/time.Second)
	in := 0
	for now := time.Duration(0); now < before+after; now += step {
		if now == before {
			f.Soon(func() bool { return f.Status("shop").Status != "event_prequeueing" })
		}
		if now < gatetest.Interval {
			for range people * step / gatetest.Interval {
				pages = append(pages, page{f.Visitor(), now})
			}
		}
		for i := range pages {
			if pages[i].next > now {
				continue
			}
			requests[now/time.Second]++
			if a := pages[i].Get("/", gatetest.AsJSON); a.In() {
				requests[now/time.Second]++ // the page is loaded again
				in++
				pages[i].next = time.Hour
			} else {
				left, ok := a.Told("refreshLeftSeconds").(float64)
				require.True(t, ok)
				pages[i].next = now + time.Duration(left*float64(time.Second))
			}
		}
		f.Clock.Add(step)
	}
	most := func(from, to time.Duration) int { return slices.Max(requests[from/time.Second : to/time.Second]) }
	assert.Equal(t, people, in)
	t.Logf("requests in the busiest second: %d before the start, %d after it", most(gatetest.Interval, before), most(before, before+after))
	assert.Less(t, most(before, before+after), 5*people/int(gatetest.Interval/time.Second))
}

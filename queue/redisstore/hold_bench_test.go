package redisstore_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

// BenchmarkEndOfHold measures the call with which so many sessions go on that were held.
func BenchmarkEndOfHold(b *testing.B) {
	server := redistest.Start(b, redistest.Options{})
	store := open(b, server.URL())
	for _, sessions := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			ctx, room, seq, since := context.Background(), fmt.Sprint("shop", sessions), uint64(0), queue.Instant(0)
			c := queue.Configuration{Settings: vast().WithDefaults()}
			goesBy := func(hold queue.ActiveHold) {
				c.Version++
				c.Settings.HoldActive = hold
				require.NoError(b, store.Configure(ctx, room, c))
			}
			report := func(list []queue.Session) *queue.View {
				seq++
				v, err := store.Sync(ctx, room, &queue.Report{Node: 1, Seq: seq, Since: since, Version: c.Version, Sessions: list})
				require.NoError(b, err)
				since = v.Now
				return v
			}
			goesBy(queue.HoldOff)
			list := make([]queue.Session, 0, 1000)
			for i := range sessions {
				s := queue.Session{Expires: clock().Add(time.Hour)}
				binary.BigEndian.PutUint32(s.ID[:], uint32(i))
				if list = append(list, s); len(list) == cap(list) {
					report(list)
					list = list[:0]
				}
			}
			require.Equal(b, sessions, report(nil).Active)
			took := time.Duration(0)
			for b.Loop() {
				goesBy(queue.HoldNow)
				report(nil)
				began := time.Now()
				goesBy(queue.HoldOff)
				report(nil)
				took += time.Since(began)
			}
			require.Equal(b, sessions, report(nil).Active)
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/end")
		})
	}
}

package proxy

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/queue"
)

// leftHeader is the header by which an origin tells how much is left.
const leftHeader = "Anteroom-Left"

// hearing is the room that hears how much is left from an answer of the origin, which was asked for at a moment.
type hearing struct {
	room  *room
	setup *roomSetup
	asked time.Time
}

type hearingKey struct{}

// hearing returns the request so that the room hears from its answer how much is left, where the room wants that.
func (rs *roomSetup) hearing(r *http.Request, of *room, now time.Time) *http.Request {
	if !rs.cfg.Left {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), hearingKey{}, hearing{of, rs, now}))
}

// hearLeft has the room of a request take in how much is left, and keeps the number from the visitor. That something is left was so when
// the origin was asked: an answer that took long does not open a room that was closed meanwhile.
func (g *Gate) hearLeft(resp *http.Response) {
	lines := resp.Header[leftHeader]
	delete(resp.Header, leftHeader)
	of, ok := resp.Request.Context().Value(hearingKey{}).(hearing)
	if !ok || len(lines) == 0 {
		return
	}
	left, err := strconv.ParseUint(strings.TrimSpace(lines[len(lines)-1]), 10, 32)
	if err != nil || left > queue.MaxLeftItems {
		if !of.setup.warned.Swap(true) {
			of.setup.log.Warn("the origin's "+leftHeader+" is no number of things, and is passed over; so are others like it", zap.String("value", lines[len(lines)-1]))
		}
		return
	}
	now, at := g.o.Clock(), of.asked
	if left == 0 {
		at = now
	}
	if of.room.queue.HearLeft(at, int(left)) {
		of.room.syncSoon(now)
	}
}

// syncSoon has the room synced at once, rather than when the next sync is due; once a second at most.
func (r *room) syncSoon(now time.Time) {
	if last := r.urged.Load(); now.UnixNano() < last+int64(time.Second) || !r.urged.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	select {
	case r.syncNow <- struct{}{}:
	default:
	}
}

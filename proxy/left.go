package proxy

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// leftHeader is the header by which an origin tells how much is left.
const leftHeader = "Fairdoor-Left"

// hearing is the room that hears how much is left from the origin's answer to a request, which was sent at a moment.
type hearing struct {
	room  *room
	setup *roomSetup
	sent  time.Time
}

type hearingKey struct{}

// hearing returns the request, which is about to be sent, so that the room hears from its answer how much is left, where the room wants that.
func (g *Gate) hearing(r *http.Request, of *room, rs *roomSetup) *http.Request {
	if !rs.cfg.Left {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), hearingKey{}, hearing{of, rs, g.o.Clock()}))
}

// hearLeft has the room of a request take in how much is left, and keeps the number from the visitor. A number is of the moment
// at which its request was sent: however long an answer took, it does not count against one to a later request.
func (g *Gate) hearLeft(resp *http.Response) {
	lines := resp.Header[leftHeader]
	if len(lines) == 0 {
		return
	}
	delete(resp.Header, leftHeader)
	of, ok := resp.Request.Context().Value(hearingKey{}).(hearing)
	if !ok {
		return
	}
	left, err := strconv.ParseUint(strings.TrimSpace(lines[len(lines)-1]), 10, 32)
	if err != nil || left > queue.MaxLeftItems {
		if !of.setup.warned.Swap(true) {
			of.setup.log.Warn("the origin's "+leftHeader+" is no number of things, and is passed over; so are others like it", zap.String("value", lines[len(lines)-1]))
		}
		return
	}
	if of.room.queue.HearLeft(of.sent, int(left)) {
		of.room.syncSoon(g.o.Clock())
	}
}

// syncSoon has the room synced at once, rather than when the next sync is due; once a second at most.
func (r *room) syncSoon(now time.Time) {
	if last := r.urged.Load(); now.UnixNano() < last+int64(time.Second) || !r.urged.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	r.wantSync()
}

// wantSync has the room synced at once.
func (r *room) wantSync() {
	select {
	case r.syncNow <- struct{}{}:
	default:
	}
}

package proxy

import (
	"context"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// endless answers somebody in the endless line as those are answered who wait. The room does not
// know of them, and no store is asked: all that there is of them is in their cookie.
func (g *Gate) endless(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	v.Room.Count(metrics.Endless)
	switch {
	case feature.Subresource(r) || feature.Speculative(r):
		g.withhold(w, r, v.Room, v.Setup)
		return
	case feature.Probes(r) || feature.Unsafe(r) && !feature.SentByAPage(r) || v.Crawls(r):
		g.busy(w, r, v)
		return
	}
	d := v.EndlessPlace()
	g.queued(w, r, v, &d)
}

// endlessEvents is a room as the event streams of those in its endless line know it.
type endlessEvents struct{ eventsRoom }

// Visit implements events.Room.
func (e endlessEvents) Visit(ctx context.Context, now time.Time, q queueroom.Request) queueroom.Decision {
	if e.room.Removed.Load() || e.Suspended() {
		return e.eventsRoom.Visit(ctx, now, q)
	}
	return feature.EndlessAt(e.Room, now, q.Ticket)
}

// Turns implements events.Room: nobody's comes.
func (endlessEvents) Turns() queueroom.Turns { return queueroom.Turns{} }

// SoldOut implements events.Room: the line goes on.
func (endlessEvents) SoldOut() bool { return false }

// Leave implements events.Room: nobody is counted.
func (endlessEvents) Leave(time.Time, queue.Ticket) {}

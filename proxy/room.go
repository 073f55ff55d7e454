package proxy

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// keptRoom is a waiting room as the gate keeps it.
type keptRoom struct {
	feature.Room

	value string       // what the braces in its family's path stand for; "" for a room of its own
	asked atomic.Int64 // when somebody last asked for it, in nanoseconds since 1970
	drop  func() bool  // called after each sync: drops the room if its family needs it no more, and says whether it did

	stopSync chan struct{} // closed to end the syncing; nil while there is none. Written with the gate's making held
}

// newRoom returns a room, which the store knows from now on. Its family, if it is of
// one, completes it.
func (g *Gate) newRoom(ctx context.Context, s *feature.Setup, counters metrics.Counters) (*keptRoom, error) {
	r, log, name := &keptRoom{drop: func() bool { return false }}, s.Log, s.Config.Name
	r.Init(counters, g.observers)
	var err error
	r.Overrides, err = overrides.Open(ctx, g.o.Clock(), overrides.Config{Config: room.Config{
		Name: name, Settings: s.Config.Settings, Store: g.o.Store, Gather: g.o.Gather, Slack: g.o.Slack, Clock: g.o.Clock, Uint64: g.o.Uint64, Wait: g.o.Wait,
		OnStoreChange: func(err error) {
			if err != nil {
				log.Error("store does not answer", zap.Error(err))
			} else {
				log.Info("store answers again")
			}
		},
		OnEnter: func(id queue.ID) { g.events.Enter(forEvents(&r.Room), id) },
		OnLeave: func(id queue.ID) { g.events.Return(forEvents(&r.Room), id) }, OnBurst: r.SyncNow,
	}, Log: log, OnChange: func(c overrides.Change) {
		for f := range having[feature.Chronicler](g) {
			f.NoteChange(name, c)
		}
	}, OnEntry: func(d *event.Draw, entry string) {
		for f := range having[feature.Registrar](g) {
			f.NoteEntry(name, d, entry)
		}
	}})
	if err != nil {
		return nil, err
	}
	r.Queue = r.Overrides.Queue()
	return r, nil
}

// markAsked notes that somebody asks for the room now. Its family keeps it for room_idle
// from then on, even if it is empty.
func (r *keptRoom) markAsked(now time.Time) { r.asked.Store(now.UnixNano()) }

// roomFor implements guard.
func (r *keptRoom) roomFor(_ http.ResponseWriter, _ *http.Request, _ *setup, s *feature.Setup, _ string) (*keptRoom, *feature.Setup) {
	return r, s
}

// known implements guard.
func (r *keptRoom) known(value string) *keptRoom {
	if value != "" {
		return nil
	}
	return r
}

// rooms implements guard.
func (r *keptRoom) rooms() ([]*keptRoom, feature.Tally) { return []*keptRoom{r}, feature.Tally{} }

// counters implements guard.
func (r *keptRoom) counters() *metrics.Counters { return &r.Counters }

// Suspended implements guard.
func (r *keptRoom) Suspended() bool { return r.Queue.Suspended() }

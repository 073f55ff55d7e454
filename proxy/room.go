package proxy

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/labels"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// room is a waiting room. It lasts: configurations come and go, and its queue stays,
// with everyone who waits or is in.
type room struct {
	queue     *queueroom.Room
	overrides *overrides.Room           // the queue's settings: the file's, with what operators changed
	setup     atomic.Pointer[roomSetup] // the latest; never nil while requests can find the room
	seats     seats
	labels    labels.Labels
	metrics.Counters

	value string       // what the braces in its family's path stand for; "" for a room of its own
	asked atomic.Int64 // when somebody last asked for it, in nanoseconds since 1970
	drop  func() bool  // called after each sync: drops the room if its family needs it no more, and says whether it did

	watched watched       // only for the syncing
	syncNow chan struct{} // has a value while a sync is wanted at once
	urged   atomic.Int64  // when that was last, in nanoseconds since 1970

	removed  atomic.Bool   // it is not configured any more, or its family has dropped it
	stopSync chan struct{} // closed to end the syncing; nil while there is none. Written with the gate's making held
}

// newRoom returns a room, which the store knows from now on. Its family, if it is of
// one, completes it.
func (g *Gate) newRoom(ctx context.Context, rs *roomSetup, counters metrics.Counters) (*room, error) {
	r, log := &room{Counters: counters, syncNow: make(chan struct{}, 1), drop: func() bool { return false }}, rs.log
	var err error
	r.overrides, err = overrides.Open(ctx, g.o.Clock(), overrides.Config{Config: queueroom.Config{
		Name: rs.cfg.Name, Settings: rs.cfg.Settings, Store: g.o.Store, Gather: g.o.Gather, Slack: g.o.Slack, Clock: g.o.Clock, Uint64: g.o.Uint64, Wait: g.o.Wait,
		OnStoreChange: func(err error) {
			if err != nil {
				log.Error("store does not answer", zap.Error(err))
			} else {
				log.Info("store answers again")
			}
		},
		OnLeave: func(id queue.ID) { g.events.Return(r.forEvents(), id) }, OnBurst: r.wantSync,
	}, Log: log, OnChange: g.noteChange(rs.cfg.Name), OnEntry: func(d *event.Draw, entry string) {
		if err := g.draws.Note(rs.cfg.Name, d, entry); err != nil {
			log.Error("entry of a draw not kept", zap.Error(err))
		}
	}})
	if err != nil {
		return nil, err
	}
	r.queue = r.overrides.Queue()
	return r, nil
}

// markAsked notes that somebody asks for the room now. Its family keeps it for room_idle
// from then on, even if it is empty.
func (r *room) markAsked(now time.Time) { r.asked.Store(now.UnixNano()) }

// leave takes a visitor's goodbye: they are not counted any more.
func (r *room) leave(now time.Time, t queue.Ticket) {
	r.queue.Leave(now, t)
	r.Count(metrics.Left)
}

// roomFor implements guard.
func (r *room) roomFor(_ http.ResponseWriter, _ *http.Request, _ *setup, rs *roomSetup, _ string) (*room, *roomSetup) {
	return r, rs
}

// known implements guard.
func (r *room) known(value string) *room {
	if value != "" {
		return nil
	}
	return r
}

// rooms implements guard.
func (r *room) rooms() ([]*room, tally) { return []*room{r}, tally{} }

// settings implements guard.
func (r *room) settings() queue.Settings { return r.queue.Settings() }

// suspended implements guard.
func (r *room) suspended() bool { return r.queue.Suspended() }

package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
)

// syncInterval is how often the gate syncs a room whose store is in its process.
const syncInterval = 100 * time.Millisecond

// door is the room as the gate runs it: visits, and a sync at every interval.
type door struct {
	room    *queue.Room
	store   *watchedStore
	touched bool // since the last sync
}

// watchedStore remembers how the room stood at the last call.
type watchedStore struct {
	queue.Store
	standing queue.Standing
}

// Admit implements [queue.Store].
func (s *watchedStore) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Standing, error) {
	standing, err := s.Store.Admit(ctx, room, p, claims, grants)
	if err == nil {
		s.standing = standing
	}
	return standing, err
}

// Sync implements [queue.Store].
func (s *watchedStore) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	v, err := s.Store.Sync(ctx, room, p)
	if err == nil {
		s.standing = v.Standing
	}
	return v, err
}

func openDoor(ctx context.Context, c Config) (*door, error) {
	d := &door{store: &watchedStore{Store: memstore.New()}}
	room, err := queue.NewRoom(ctx, start, queue.Config{
		Name: "simulated", Settings: c.Room, Store: d.store, Uint64: random(c, streamRoom).Uint64,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the room: %w", err)
	}
	d.room = room
	return d, nil
}

// visit is a request at the door.
func (d *door) visit(ctx context.Context, now queue.Instant, t queue.Ticket) queue.Decision {
	d.touched = true
	return d.room.Visit(ctx, now, queue.Request{Ticket: t})
}

// leave is a goodbye at the door.
func (d *door) leave(now queue.Instant, t queue.Ticket) {
	d.touched = true
	d.room.Leave(now, t)
}

// pause closes the door, or opens it again.
func (d *door) pause(paused bool) {
	d.touched = true
	d.room.Pause(paused)
}

// sync is the gate's at now, which is one of its moments. While nobody asks and
// nobody waits it changes nothing, and is left out.
func (d *door) sync(ctx context.Context, now queue.Instant, people int) error {
	if !d.touched && people == 0 {
		return nil
	}
	d.touched = false
	if err := d.room.Sync(ctx, now); err != nil {
		return fmt.Errorf("at %v: %w", now.Time().Format(time.TimeOnly), err)
	}
	return nil
}

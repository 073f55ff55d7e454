package passes

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Make makes so many passes like one.
func (r *Room) Make(ctx context.Context, like waitlist.Pass, count int) ([]waitlist.Pass, error) {
	like.Room = r.Config.Room
	return r.o.Record.Make(ctx, like, count, r.o.Clock())
}

// List returns the passes in the order in which they were made, after the one with that id, or from
// the first; at most so many.
func (r *Room) List(ctx context.Context, after string, most int) ([]waitlist.Pass, error) {
	return r.o.Record.List(ctx, r.Config.Room, after, most)
}

// Link returns the path and query of a pass's link.
func (r *Room) Link(id string) (string, error) {
	b, err := hex.DecodeString(id)
	if err != nil {
		return "", fmt.Errorf("reading the id of a pass: %w", err)
	}
	sealed, err := r.links.Encode(b)
	return r.path() + "?t=" + sealed, err
}

// Revoke ends the passes that have an id or a name. It returns them, with those that were revoked
// before, and says how many it has ended. This gate knows at once, others within a second or two.
func (r *Room) Revoke(ctx context.Context, idOrName string, by waitlist.Operator) (named []waitlist.Pass, ended int, err error) {
	named, ended, err = r.o.Record.Revoke(ctx, r.Config.Room, idOrName, by, r.o.Clock())
	if err == nil {
		err = r.Follow(ctx)
	}
	return named, ended, err
}

// Visitors yields who the holders of a pass are in the queue: visitors by their use, and users of
// the site who have brought theirs here.
func (r *Room) Visitors(p waitlist.Pass) func(yield func(queue.ID) bool) {
	return func(yield func(queue.ID) bool) {
		for number := 1; number <= p.Used; number++ {
			use := r.visitor(p.ID, number)
			if !yield(use) {
				return
			}
			if user, found := r.known.userOf(use); found && !yield(user) {
				return
			}
		}
	}
}

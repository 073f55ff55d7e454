package room

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// errPanic means that a call of the store has panicked: as after any call without an
// answer, nobody knows what it has done.
var errPanic = errors.New("the store panicked")

// guarded is a store whose panics are errors.
type guarded struct{ queue.Store }

// noPanic, deferred, makes an error of a panic.
func noPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
	}
}

func (g guarded) Configure(ctx context.Context, room string, c queue.Configuration) (err error) {
	defer noPanic(&err)
	return g.Store.Configure(ctx, room, c)
}

func (g guarded) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (s queue.Status, err error) {
	defer noPanic(&err)
	return g.Store.Admit(ctx, room, p, claims, grants)
}

func (g guarded) Sync(ctx context.Context, room string, p *queue.Report) (v *queue.View, err error) {
	defer noPanic(&err)
	return g.Store.Sync(ctx, room, p)
}

func (g guarded) Roster(ctx context.Context, room string, ids []queue.ID) (r *queue.Roster, err error) {
	defer noPanic(&err)
	return g.Store.Roster(ctx, room, ids)
}

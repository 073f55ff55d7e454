package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errPanic means that a call of the store has panicked: as after any call without an
// answer, nobody knows what it has done.
var errPanic = errors.New("the store panicked")

// guarded is a store whose panics are errors.
type guarded struct{ Store }

// noPanic, deferred, makes an error of a panic.
func noPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
	}
}

func (g guarded) Configure(ctx context.Context, room string, c Configuration) (err error) {
	defer noPanic(&err)
	return g.Store.Configure(ctx, room, c)
}

func (g guarded) Admit(ctx context.Context, room string, p *Report, claims []Claim, grants []Grant) (s Standing, err error) {
	defer noPanic(&err)
	return g.Store.Admit(ctx, room, p, claims, grants)
}

func (g guarded) Sync(ctx context.Context, room string, p *Report) (v *View, err error) {
	defer noPanic(&err)
	return g.Store.Sync(ctx, room, p)
}

func (g guarded) Roll(ctx context.Context, room string, ids []ID) (r *Roll, err error) {
	defer noPanic(&err)
	return g.Store.Roll(ctx, room, ids)
}

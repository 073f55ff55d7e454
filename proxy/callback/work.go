package callback

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/webpush"
)

const (
	// firstRetry is how long a message waits for its second try, longestRetry for any.
	firstRetry   = 2 * time.Second
	longestRetry = time.Minute
	// almostLasts is for how long it is of use to know that it is almost one's turn.
	almostLasts = 5 * time.Minute
)

// task is something that the desk does for a visitor, one at a time.
type task uint8

const (
	checkIn task = iota
	push
)

// start starts what is due at now, as far as there is space for it.
func (d *Desk) start(ctx context.Context, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.calls {
		switch {
		case e.over() && !now.Before(e.Forget):
			d.forget(e)
			continue
		case !e.over() && !now.Before(e.due):
			d.begin(e, checkIn, func(c *Call) { d.checkIn(ctx, now, c) })
		}
		if e.Owed != nil && !now.Before(e.Owed.Next) {
			d.begin(e, push, func(c *Call) { d.push(ctx, now, c) })
		}
	}
}

// begin does a task with a copy of the call, unless that is under way already or too much is. The caller holds mu.
func (d *Desk) begin(e *entry, t task, do func(*Call)) {
	if e.busy[t] {
		return
	}
	select {
	case d.slots[t] <- struct{}{}:
	default:
		return
	}
	e.busy[t] = true
	busy, c := e.busy, e.Call // a call that is asked for again goes on with the same busy
	d.tasks.Go(func() {
		defer func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			busy[t] = false
			<-d.slots[t]
		}()
		defer d.o.Survive("calling back")
		do(&c)
	})
}

// change changes a call, if it is there still, and keeps it.
func (d *Desk) change(visitor string, how func(*entry)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.calls[visitor]
	if e == nil {
		return
	}
	how(e)
	if d.calls[visitor] == nil {
		return
	}
	d.note(e)
}

// note keeps a call. The caller holds mu.
func (d *Desk) note(e *entry) {
	if err := d.keep(&e.Call); err != nil { // it goes on all the same, if the gate lives for so long
		d.o.Log.Warn("visitor who is to be called not kept", zap.Error(err))
	}
}

// checkIn checks in for a visitor.
func (d *Desk) checkIn(ctx context.Context, now time.Time, c *Call) {
	s := d.o.Gate.CheckIn(ctx, now, c)
	d.change(c.Visitor, func(e *entry) {
		if s.Ticket != "" {
			e.Ticket = s.Ticket
		}
		e.due = now.Add(s.Due)
		switch {
		case e.over():
		case s.State == Gone:
			d.forget(e)
		case s.State == Called:
			e.end(Turn, now, s.Until, s.Lasts)
		case s.State == Shut:
			e.end(Closed, now, now.Add(s.Lasts), s.Lasts)
		case !now.Before(e.Ends):
			e.end(Lapsed, now, now.Add(s.Lasts), s.Lasts)
		case s.State == Near && !e.Foretold:
			e.Foretold, e.Owed = true, &Message{Kind: Almost, Until: now.Add(almostLasts), Next: now}
		}
	})
}

// end has a visitor told the last that there is to tell. Their ticket is kept for as long as it is worth something.
func (c *Call) end(k Kind, now, until time.Time, lasts time.Duration) {
	c.Owed, c.Forget = &Message{Kind: k, Until: until, Next: now}, now.Add(lasts)
}

// push sends a visitor what they are to be told.
func (d *Desk) push(ctx context.Context, now time.Time, c *Call) {
	wait, err := d.o.Gate.Push(ctx, now, c, c.Owed)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		d.o.Log.Warn("visitor not called", zap.String("room", c.Room), zap.String("kind", string(c.Owed.Kind)), zap.Error(err))
	}
	d.change(c.Visitor, func(e *entry) {
		switch {
		case errors.Is(err, webpush.ErrGone) && e.Subscription == c.Subscription:
			d.forget(e)
		case e.Owed == nil || e.Owed.Kind != c.Owed.Kind: // something else is to be told by now
		case err == nil, errors.Is(err, webpush.ErrRefused), !now.Before(e.Owed.Until):
			e.Owed = nil
		default:
			again := *e.Owed
			again.Next, again.Tries = now.Add(max(min(firstRetry<<min(again.Tries, 8), longestRetry), min(wait, longestRetry))), again.Tries+1
			e.Owed = &again
		}
	})
}

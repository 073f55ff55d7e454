package callback

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/webpush"
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

// job is a task that is under way, with a copy of the call.
type job struct {
	task task
	call Call
	busy map[task]bool // that of the call: one that is asked for again goes on with the same
}

// start starts what is due at now. As each job ends, the next begins.
func (d *Desk) start(ctx context.Context, now time.Time) {
	d.list(now)
	for _, t := range []task{checkIn, push} {
		for j := d.next(t); j != nil; j = d.next(t) {
			d.o.Go(func() { d.work(ctx, j) })
		}
	}
}

// list lists what is due, in one order each time, and forgets the calls that are over.
func (d *Desk) list(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var checkIns, messages []*entry
	for _, e := range d.calls {
		switch {
		case e.over() && !now.Before(e.Forget):
			d.forget(e)
			continue
		case e.awaits(checkIn) && !now.Before(e.due):
			checkIns = append(checkIns, e)
		}
		if e.awaits(push) && !now.Before(e.Owed.Next) {
			messages = append(messages, e)
		}
	}
	slices.SortFunc(checkIns, func(a, b *entry) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.Visitor, b.Visitor)) })
	slices.SortFunc(messages, func(a, b *entry) int { return cmp.Or(a.Owed.compare(b.Owed), cmp.Compare(a.Visitor, b.Visitor)) })
	d.due[checkIn], d.due[push] = checkIns, messages
}

// next begins the most urgent task for which there is space; nil for none.
func (d *Desk) next(t task) *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, e := range d.due[t] {
		if d.calls[e.Visitor] != e || !e.awaits(t) || !d.underWay[t].takes(t, &e.Call) {
			continue
		}
		d.due[t] = slices.Delete(d.due[t], i, i+1)
		e.busy[t] = true
		d.underWay[t].add(&e.Call, 1)
		return &job{t, e.Call, e.busy}
	}
	return nil
}

// awaits says whether there is a task for the call that is not under way.
func (e *entry) awaits(t task) bool {
	if t == checkIn {
		return !e.over() && !e.busy[t]
	}
	return e.Owed != nil && !e.busy[t]
}

// work does a job, and then the next.
func (d *Desk) work(ctx context.Context, j *job) {
	for j != nil {
		d.do(ctx, j)
		if ctx.Err() != nil {
			return
		}
		j = d.next(j.task)
	}
}

func (d *Desk) do(ctx context.Context, j *job) {
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		j.busy[j.task] = false
		d.underWay[j.task].add(&j.call, -1)
	}()
	defer d.o.Survive("calling back")
	if j.task == checkIn {
		d.checkIn(ctx, d.o.Clock(), &j.call)
	} else {
		d.push(ctx, d.o.Clock(), &j.call)
	}
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
		d.o.Log.Warn("visitor who is to be called not kept", zap.String("supportCode", e.Support), zap.Error(err))
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

// end has a visitor told the last that there is to tell. Their ticket is kept for as long as it is
// worth something.
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
		d.o.Log.Warn("visitor not called", zap.String("room", c.Room), zap.String("supportCode", c.Support), zap.String("kind", string(c.Owed.Kind)), zap.Error(err))
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

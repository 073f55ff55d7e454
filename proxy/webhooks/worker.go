package webhooks

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
)

const (
	// maxWaiting is how many deliveries wait for one hook. If there are more, the oldest is dropped
	// that is not under way.
	maxWaiting = 1000
	// maxAge is how old a delivery is that is not tried again.
	maxAge = 6 * time.Hour
	// longestRetry is about how long a delivery waits for its next try at most.
	longestRetry = 5 * time.Minute
	// refusedTries is how often a delivery is sent that the receiver refuses each time: with the
	// pauses that is about a minute and a half.
	refusedTries = 8
)

// Status is how a hook stands.
type Status struct {
	Name    string    `json:"name"`
	URL     string    `json:"url"` // its scheme and host: the rest may be secret
	Events  []Kind    `json:"events"`
	Rooms   []string  `json:"rooms"`
	Waiting int       `json:"waiting"` // deliveries that have not been taken yet
	Sent    uint64    `json:"delivered"`
	Failed  uint64    `json:"failed_tries"`
	Dropped uint64    `json:"dropped"` // deliveries that were given up
	Gone    bool      `json:"gone"`    // it answered 410, and is told of nothing until the gate is configured anew
	Failure string    `json:"last_failure"`
	At      time.Time `json:"last_failure_at,omitzero"`
}

// worker sends the deliveries of one hook, one after the other.
type worker struct {
	o      *Options
	hook   atomic.Pointer[Hook]
	client atomic.Pointer[http.Client]
	outbox outbox
	wake   chan struct{}
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	waiting []*delivery
	told    Status // of which the hook and Waiting are filled in later
}

// start starts a worker, with the deliveries that wait in its files.
func (s *Sender) start(h Hook, hosts outbound.Hosts) *worker {
	ctx, stop := context.WithCancel(context.Background())
	w := &worker{o: &s.o, wake: make(chan struct{}, 1), stop: stop, outbox: outboxOf(s.o.Dir, h.URL)}
	w.use(h, hosts)
	var err error
	if w.waiting, err = w.outbox.load(); err != nil {
		s.o.Log.Warn("deliveries of a webhook were not read", zap.String("webhook", h.Name), zap.Error(err))
	}
	w.done.Go(func() { w.run(ctx) })
	w.nudge()
	return w
}

// use gives the worker another configuration of its hook.
func (w *worker) use(h Hook, hosts outbound.Hosts) {
	w.hook.Store(&h)
	w.client.Store(hosts.Client(w.o.Transport, h.URL.Hostname()))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told.Gone = false
}

// send has an event sent.
func (w *worker) send(e Event) {
	d, err := newDelivery(&e, w.o.Gate)
	if err == nil {
		err = w.outbox.keep(d)
	}
	if d == nil {
		w.o.Log.Error("event not sent", zap.Error(err))
		return
	}
	if err != nil { // it is sent all the same, if the gate lives for so long
		w.o.Log.Warn("delivery of a webhook not kept", zap.Error(err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told.Gone {
		w.outbox.forget(d)
		return
	}
	w.waiting = append(w.waiting, d)
	if len(w.waiting) > maxWaiting {
		w.outbox.forget(w.waiting[1])
		w.waiting = slices.Delete(w.waiting, 1, 2)
		w.told.Dropped++
	}
	w.nudge()
}

// nudge never waits: a worker that is at work looks again afterwards.
func (w *worker) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run sends what waits until ctx ends.
func (w *worker) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for tries := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			if tries > 0 {
				continue // the first in line waits for its next try
			}
		case <-timer.C:
		}
		for tries = w.sendFirst(ctx, tries, timer); tries == 0 && w.first() != nil && ctx.Err() == nil; {
			tries = w.sendFirst(ctx, tries, timer)
		}
	}
}

// first is the delivery whose turn it is, or nil.
func (w *worker) first() *delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return nil
	}
	return w.waiting[0]
}

// sendFirst tries the first delivery, which was tried so many times before, and returns how many
// times the first has been tried now: 0 if it is another one.
func (w *worker) sendFirst(ctx context.Context, tries int, timer *time.Timer) int {
	d := w.first()
	if d == nil {
		return 0
	}
	wait, err := w.hook.Load().post(ctx, w.client.Load(), d, w.o.Clock())
	switch {
	case ctx.Err() != nil:
		return tries
	case err == nil:
		w.finish(d, nil, false)
		return 0
	case errors.Is(err, errGone):
		w.retire(err)
		return 0
	case w.o.Clock().Sub(d.At) > maxAge, errors.Is(err, errRefused) && tries+1 >= refusedTries:
		w.finish(d, err, true)
		return 0
	}
	w.finish(nil, err, false)
	timer.Reset(w.pause(tries, wait))
	return tries + 1
}

// pause is how long a delivery waits that has failed so many times before, and whose receiver wants
// to be left alone for a while.
func (w *worker) pause(tries int, wait time.Duration) time.Duration {
	pause := min(w.o.FirstRetry<<min(tries, 16), longestRetry)
	pause = pause/2 + rand.N(pause/2+1)
	return max(pause, min(wait, longestRetry))
}

// finish notes how a try has ended; of a delivery that is done with, it takes it out.
func (w *worker) finish(d *delivery, err error, dropped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.told.Failed++
		w.told.Failure, w.told.At = err.Error(), w.o.Clock()
		w.o.Log.Warn("webhook failed", zap.String("webhook", w.hook.Load().Name), zap.Error(err), zap.Bool("given up", dropped))
	}
	if d == nil {
		return
	}
	w.outbox.forget(d)
	if len(w.waiting) > 0 && w.waiting[0] == d {
		w.waiting = w.waiting[1:]
	}
	if dropped {
		w.told.Dropped++
	} else {
		w.told.Sent++
	}
}

// retire drops all deliveries of a hook that has gone.
func (w *worker) retire(err error) {
	w.finish(nil, err, true)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.waiting {
		w.outbox.forget(d)
	}
	w.told.Dropped += uint64(len(w.waiting))
	w.waiting, w.told.Gone = nil, true
}

// status says how the hook stands.
func (w *worker) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	h, s := w.hook.Load(), w.told
	shown := url.URL{Scheme: h.URL.Scheme, Host: h.URL.Host}
	s.Name, s.URL, s.Waiting = h.Name, shown.String(), len(w.waiting)
	s.Events, s.Rooms = append([]Kind{}, h.Events...), append([]string{}, h.Rooms...)
	return s
}

// close ends the worker, and waits for that.
func (w *worker) close() {
	w.stop()
	w.done.Wait()
}

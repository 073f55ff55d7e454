package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"
)

// Receiver is a hook that is told of events which somebody else keeps until it has taken them.
type Receiver struct {
	worker *worker
	hook   *Hook
}

// Receivers are the hooks that want events of a room whose kinds begin alike, and have not gone.
func (s *Sender) Receivers(kinds, room string) (list []Receiver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.workers {
		h := w.hook.Load()
		begins := func(k Kind) bool { return strings.HasPrefix(string(k), kinds) }
		if slices.ContainsFunc(h.Events, begins) && (len(h.Rooms) == 0 || slices.Contains(h.Rooms, room)) && !w.gone() {
			list = append(list, Receiver{w, h})
		}
	}
	return list
}

// ID is the same at all gates, and for as long as the hook has its URL.
func (r Receiver) ID() string {
	sum := sha256.Sum256([]byte(r.hook.URL.String()))
	return hex.EncodeToString(sum[:12])
}

// Tell tells the receiver of an event, if it wants that one, which has failed so many times before.
// It returns after how long that has to be tried again: 0 if the receiver has taken it, does not
// want it, or has refused it so often that it is given up.
func (r Receiver) Tell(ctx context.Context, e Event, tries int) (again time.Duration) {
	if !r.hook.wants(&e) {
		return 0
	}
	w := r.worker
	d, err := newDelivery(&e, w.o.Gate)
	if err != nil {
		w.finish(&delivery{}, err, true)
		return 0
	}
	wait, err := r.hook.post(ctx, w.client.Load(), d, w.o.Clock())
	switch {
	case ctx.Err() != nil:
		return time.Second
	case err == nil:
		w.finish(d, nil, false)
		return 0
	case errors.Is(err, errGone):
		w.retire(err)
		return longestRetry
	case errors.Is(err, errRefused) && tries+1 >= refusedTries:
		w.finish(d, err, true)
		return 0
	}
	w.finish(nil, err, false)
	return w.pause(tries, wait)
}

// gone says whether the hook has answered that it wants no more deliveries.
func (w *worker) gone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told.Gone
}

package occupants

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	// maxStreams is how many streams of a room are open at a time.
	maxStreams = 16
	// heartbeat is how long a stream is silent at most: proxies in between cut off what is silent for
	// longer.
	heartbeat = 15 * time.Second
)

// streams are those of a room. The zero value has none.
type streams struct {
	mu     sync.Mutex
	open   int
	synced chan struct{} // closed after the room's next sync

	looking sync.Mutex
	until   <-chan struct{} // when latest is looked at again; nil for at once
	latest  *list
}

// begin counts one more, unless there are too many.
func (s *streams) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == maxStreams {
		return false
	}
	s.open++
	return true
}

func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}

// next is closed after the room's next sync.
func (s *streams) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.synced == nil {
		s.synced = make(chan struct{})
	}
	return s.synced
}

// look asks the store who is there, once for all streams until the next sync.
func (s *streams) look(ctx context.Context, of *feature.Room, next <-chan struct{}) (*list, error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if s.until == next {
		return s.latest, nil
	}
	roster, err := of.Queue.Roster(ctx)
	if err != nil {
		return nil, err
	}
	s.until, s.latest = next, listOf(of, roster)
	return s.latest, nil
}

// Follow implements [feature.Follower]: streams look at a room that was synced.
func (*Feature) Follow(r *feature.Room) {
	s := feature.StateOf[streams](r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.synced != nil {
		close(s.synced)
		s.synced = nil
	}
}

// stream tells who is there, and from then on whatever changes, once a sync at most. It follows no
// list that lacks people: they would seem to come and go.
func (f *Feature) stream(w http.ResponseWriter, r *http.Request, of *feature.Room) {
	all := feature.StateOf[streams](of)
	if !all.begin() {
		reply.Problem(w, http.StatusServiceUnavailable, fmt.Sprintf("A gate has %d streams of a room at most.", maxStreams))
		return
	}
	defer all.end()
	changed := all.next()
	known, err := all.look(r.Context(), of, changed)
	if err != nil {
		f.away(w, of, err)
		return
	}
	if known.Truncated {
		reply.Problem(w, http.StatusConflict, fmt.Sprintf("A stream follows %d people at most in the room, and in its line: ask for the list.", queue.MaxRoster))
		return
	}
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["X-Accel-Buffering"] = []string{"text/event-stream"}, feature.NoStore, []string{"no"}
	to := http.NewResponseController(w)
	text := appendEvent(nil, "occupants", known)
	silence := time.NewTimer(heartbeat)
	defer silence.Stop()
	for {
		if len(text) > 0 {
			if _, err := w.Write(text); err != nil || to.Flush() != nil {
				return
			}
			silence.Reset(heartbeat)
		}
		text = nil
		select {
		case <-r.Context().Done():
			return
		case <-f.ended:
			return
		case <-f.gate.Context().Done():
			return
		case <-silence.C:
			text = []byte(":\n\n")
		case <-changed:
			changed = all.next()
			now, err := all.look(r.Context(), of, changed)
			if err != nil { // until the next sync
				continue
			}
			if now.Truncated {
				return
			}
			for _, e := range now.since(known) {
				text = appendEvent(text, e.name, e.person)
			}
			known = now
		}
		if of.Removed.Load() {
			return
		}
	}
}

// appendEvent appends an event with JSON as its data.
func appendEvent(to []byte, name string, data any) []byte {
	b := bytes.NewBuffer(append(to, "event: "+name+"\ndata: "...))
	_ = json.NewEncoder(b).Encode(data) // it is made of texts and numbers, and ends with a line
	return append(b.Bytes(), '\n')
}

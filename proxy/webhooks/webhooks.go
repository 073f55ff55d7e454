// Package webhooks tells other programs what happens to the rooms of a gate: by POST requests,
// signed as Standard Webhooks (https://www.standardwebhooks.com) has it.
//
// Each hook gets its deliveries in their order, each until it was taken or has become too old. They
// wait in files where the gate has a directory for them, so that a restart goes on with them.
// [Sender.Notify] never waits.
//
//	webhooks.go  the kinds of event, hooks, and the sender of all of them
//	worker.go    the deliveries of one hook
//	receiver.go  a hook that is told of what others keep until it has taken it
//	request.go   a request: what it says, and what an answer means
//	outbox.go    the files in which deliveries wait
package webhooks

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Kind is what a delivery tells of.
type Kind string

// The kinds. Test is sent only when an operator asks for it, to any hook.
const (
	QueueingBegan   Kind = "queueing_began"
	QueueingEnded   Kind = "queueing_ended"
	LimitReached    Kind = "limit_reached"
	StoreLost       Kind = "store_lost"
	StoreBack       Kind = "store_back"
	SoldOut         Kind = "sold_out"
	Reopened        Kind = "reopened"
	HoldBegan       Kind = "hold_began"
	HoldEnded       Kind = "hold_ended"
	EventPrequeuing Kind = "event_prequeueing"
	EventStarted    Kind = "event_started"
	EventEnded      Kind = "event_ended"
	OriginFailing   Kind = "origin_failing"
	OriginBack      Kind = "origin_back"
	SlowedDown      Kind = "slowed"
	UpToSpeed       Kind = "not_slowed"
	Changed         Kind = "changed"
	RecordLost      Kind = "record_lost"
	RecordBack      Kind = "record_back"
	CertificateEnds Kind = "certificate_ending"
	Test            Kind = "test"
)

// Kinds are those that a hook can ask for.
func Kinds() []Kind {
	kinds := []Kind{
		QueueingBegan, QueueingEnded, LimitReached, StoreLost, StoreBack, SoldOut, Reopened, HoldBegan, HoldEnded,
		EventPrequeuing, EventStarted, EventEnded, OriginFailing, OriginBack, SlowedDown, UpToSpeed, Changed, RecordLost, RecordBack,
		CertificateEnds,
	}
	for _, k := range waitlist.EventKinds() {
		kinds = append(kinds, OfWaitlist+Kind(k))
	}
	return kinds
}

// OfWaitlist begins the kinds of what happens to people on a waitlist; a [waitlist.EventKind]
// follows. They have personal data, so
// only hooks are told of them that name them.
const OfWaitlist = "waitlist_"

// Hook is a receiver of deliveries.
type Hook struct {
	Name   string   // by which operators and metrics know it; default the host of the URL
	URL    *url.URL // required
	Events []Kind   // what it is told of; default all that is not of a waitlist
	Rooms  []string // whose events it is told of; default all rooms
	Secret []byte   // that signs the deliveries; see ParseSecret
}

// wants says whether the hook is told of an event.
func (h *Hook) wants(e *Event) bool {
	all := len(h.Events) == 0 && !strings.HasPrefix(string(e.Kind), OfWaitlist)
	return (all || slices.Contains(h.Events, e.Kind)) && (len(h.Rooms) == 0 || e.Room == "" || slices.Contains(h.Rooms, e.Room))
}

// Event is something that has happened to a room.
type Event struct {
	Kind    Kind
	Room    string
	At      time.Time
	Nth     int            // of its kind that a gate has seen in the room in this minute; 0 where there can be no other
	Details map[string]any // beside the room, in the data of the delivery
	Key     string         // that tells it from all others, where there is one
}

// id is the same for all gates that tell of the event: whatever the clocks of gates, they see it in
// the same minute as a rule. Tests are all different.
func (e *Event) id() string {
	if e.Kind == Test {
		return "msg_" + rand.Text()
	}
	if e.Key != "" {
		sum := sha256.Sum256([]byte(e.Key))
		return "msg_" + hex.EncodeToString(sum[:12])
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", e.Kind, e.Room, e.At.Unix()/60, e.Nth))
	return "msg_" + hex.EncodeToString(sum[:12])
}

// delivery is an event on its way to a hook.
type delivery struct {
	ID   string          `json:"id"`
	Kind Kind            `json:"kind"`
	At   time.Time       `json:"at"` // since when it waits
	Body json.RawMessage `json:"body"`

	file string // that has it; "" without a directory
}

// newDelivery is the delivery of an event that a gate tells of.
func newDelivery(e *Event, gate string) (*delivery, error) {
	data := map[string]any{"room": e.Room, "gate": gate}
	for name, value := range e.Details {
		data[name] = value
	}
	body, err := json.Marshal(map[string]any{"type": e.Kind, "timestamp": e.At.UTC().Format(time.RFC3339Nano), "data": data})
	if err != nil {
		return nil, fmt.Errorf("writing an event: %w", err)
	}
	return &delivery{ID: e.id(), Kind: e.Kind, At: e.At, Body: body}, nil
}

// Options are what a sender is made of.
type Options struct {
	Gate       string           // the name of the gate that tells, which deliveries have
	Dir        string           // where deliveries wait; "" keeps them in memory alone
	Clock      func() time.Time // default time.Now
	FirstRetry time.Duration    // about how long after a failure a delivery is tried again at first; default 1 s
	Log        *zap.Logger      // required
	Transport  *http.Transport  // on which requests are modelled, for its TLS settings; default none
}

// Sender sends deliveries to hooks. It is made by New and ended by Close.
type Sender struct {
	o Options

	mu      sync.Mutex
	workers []*worker // in the order of the configuration
}

// New returns a sender without hooks.
func New(o Options) *Sender {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.FirstRetry == 0 {
		o.FirstRetry = time.Second
	}
	return &Sender{o: o}
}

// Use replaces the hooks, and the hosts that may be asked. A hook is known by its URL: one that
// stays keeps its deliveries.
func (s *Sender) Use(hooks []Hook, hosts outbound.Hosts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.workers
	s.workers = nil
	for _, h := range hooks {
		h.Name = s.nameFor(&h)
		i := slices.IndexFunc(old, func(w *worker) bool { return w.hook.Load().URL.String() == h.URL.String() })
		if i < 0 {
			s.workers = append(s.workers, s.start(h, hosts))
			continue
		}
		old[i].use(h, hosts)
		s.workers = append(s.workers, old[i])
		old = slices.Delete(slices.Clone(old), i, i+1)
	}
	for _, w := range old {
		w.close()
	}
}

// nameFor is the name of a hook that is to be added: its own or the host of its URL, with a number
// if another hook has that.
func (s *Sender) nameFor(h *Hook) string {
	base := cmp.Or(h.Name, h.URL.Host)
	name := base
	for n := 2; slices.ContainsFunc(s.workers, func(w *worker) bool { return w.hook.Load().Name == name }); n++ {
		name = fmt.Sprint(base, "-", n)
	}
	return name
}

// Notify has the hooks told of an event that want it. It never waits for one.
func (s *Sender) Notify(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.workers {
		if w.hook.Load().wants(&e) {
			w.send(e)
		}
	}
}

// Try sends a test to the hook of a name, or to all if the name is empty, and says to how many.
func (s *Sender) Try(name string) (sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.workers {
		if name == "" || w.hook.Load().Name == name {
			w.send(Event{Kind: Test, At: s.o.Clock()})
			sent++
		}
	}
	return sent
}

// Statuses says how the hooks stand, in the order of the configuration.
func (s *Sender) Statuses() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Status, len(s.workers))
	for i, w := range s.workers {
		list[i] = w.status()
	}
	return list
}

// Close ends the sending. What waits in files is sent after the next start.
func (s *Sender) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.workers {
		w.close()
	}
	s.workers = nil
}

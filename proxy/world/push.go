package world

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/webpush/webpushtest"
)

// Calls say that visitors may ask to be called.
type Calls struct {
	Outages []Outage // of the push service, which is down then
}

// String tells the calls at the end of a line; nothing where there are none.
func (c *Calls) String() string {
	if c == nil {
		return ""
	}
	text := "; visitors may ask to be called"
	for _, o := range c.Outages {
		text += fmt.Sprintf("; the push service is down at %s for %v", moment(o.At), o.Lasts)
	}
	return text
}

// drawCalls draws calls in one plan of three, and how long a slot is kept for who is called. Some
// of those who would have come as others ask for them.
func (p *Plan) drawCalls() {
	r := source(p.Seed, "callers")
	if p.Sale != (Sale{}) || len(p.Passes) > 0 || r.IntN(3) > 0 {
		return
	}
	p.Calls, p.Settings.ClaimWithin = &Calls{}, []time.Duration{15 * time.Second, 30 * time.Second, time.Minute}[r.IntN(3)]
	for range r.IntN(3) {
		o := Outage{At: time.Duration(r.Int64N(int64(p.Lasts))), Lasts: []time.Duration{time.Second, 5 * time.Second, 40 * time.Second}[r.IntN(3)]}
		p.Calls.Outages = append(p.Calls.Outages, o)
	}
	p.become("caller", 2+r.IntN(10), r)
}

// pushHost is where the push service is.
const pushHost = "push.example"

// pushService is what browsers are reached by.
type pushService struct {
	*webpushtest.Service
	world *world
	link  *link

	mu    sync.Mutex
	boxes map[string]*box // by the path of the endpoint
}

// box is what a browser has got.
type box struct {
	*webpushtest.Browser
	of  int
	got chan called
}

// called is what somebody is told by a message.
type called struct {
	Until time.Time
	Last  bool
	URL   string
}

func newPushService(t *testing.T, w *world) *pushService {
	return &pushService{
		Service: webpushtest.At(t, "http://"+pushHost, time.Now), world: w, link: newLink(w.plan.Seed, "push", 5*time.Millisecond, 100*time.Millisecond),
		boxes: map[string]*box{},
	}
}

// callVisitors has a process call visitors.
func (w *world) callVisitors(p *process, o *proxy.Options) {
	if w.push == nil {
		return
	}
	hosts, err := outbound.ParseHosts([]string{"http://" + pushHost})
	if err != nil {
		panic(err)
	}
	p.config.Parts = p.config.Parts.With(callback.Name, hosts.Over(w.push.dial(p)))
	p.config.Rooms[0].Options = p.config.Rooms[0].Options.With(callback.RoomOptions{On: true})
	o.StateDir = filepath.Join(w.dir, fmt.Sprint("gate", p.on.number))
}

// subscribe has somebody's browser subscribe.
func (s *pushService) subscribe(who int) *box {
	b := &box{Browser: s.Subscribe(), of: who, got: make(chan called, 64)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boxes[b.Endpoint()] = b
	return b
}

// dial opens connections of a process to the service.
func (s *pushService) dial(p *process) outbound.Dial {
	return func(context.Context, string, string) (net.Conn, error) {
		s.link.pass()
		now := s.world.history.now()
		for _, o := range s.world.plan.Calls.Outages {
			if now >= o.At && now < o.At+o.Lasts {
				return nil, errRefused
			}
		}
		if p.dead.Load() {
			return nil, errDead
		}
		near, far := net.Pipe()
		ended := context.AfterFunc(p.lives, func() { near.Close() })
		s.world.wires.Go(func() {
			defer ended()
			defer far.Close()
			s.serve(far, p.on.number)
		})
		return near, nil
	}
}

// serve takes a message.
func (s *pushService) serve(conn net.Conn, gate int) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	s.link.pass()
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, r)
	if answer.Code == http.StatusCreated {
		s.deliver("http://"+pushHost+r.URL.Path, gate)
	}
	s.link.pass()
	result := answer.Result()
	result.Close = true
	_ = result.Write(conn)
}

// deliver has a browser tell what it has got last.
func (s *pushService) deliver(endpoint string, gate int) {
	s.mu.Lock()
	b := s.boxes[endpoint]
	s.mu.Unlock()
	all := b.Messages()
	var c called
	if json.Unmarshal([]byte(all[len(all)-1].Text), &c) != nil {
		return
	}
	h, kind := s.world.history, almostCalled
	until := c.Until.Sub(h.begun)
	switch {
	case c.Last && until <= h.now()+s.world.plan.Settings.ClaimWithin+slack:
		kind = isCalled
	case c.Last:
		kind = notCalled
	}
	h.add(Event{What: Called, Who: nobody, Of: b.of + 1, Gate: gate, Until: until, Text: kind})
	b.got <- c
}

// What somebody is told who is called.
const (
	isCalled     = "a slot is kept for them"
	almostCalled = "it is almost their turn"
	notCalled    = "their place is not held any more"
)

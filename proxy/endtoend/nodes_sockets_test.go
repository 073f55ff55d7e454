package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hall is an origin that people are in while a websocket of theirs is open. It
// goes by the names that they give.
type hall struct {
	mu      sync.Mutex
	open    map[string]int // websockets, by guest
	most    int            // guests at a time
	entered []string       // in the order of their first websockets
	known   map[string]bool
	cut     func() // ends all websockets that were open when it was made
	cutting context.Context
}

func newHall(t *testing.T) *hall {
	h := &hall{open: map[string]int{}, known: map[string]bool{}}
	h.cutting, h.cut = context.WithCancel(t.Context())
	return h
}

func (h *hall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/talk":
		h.talk(w, r)
	case "/leave":
		w.Header().Set("Fairdoor-Command", "revoke")
	default:
		_, _ = io.WriteString(w, "in")
	}
}

func (h *hall) talk(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	who := r.URL.Query().Get("who")
	h.mu.Lock()
	h.open[who]++
	h.most = max(h.most, len(h.open))
	if !h.known[who] {
		h.known[who] = true
		h.entered = append(h.entered, who)
	}
	ctx := h.cutting
	h.mu.Unlock()
	_, _, _ = conn.Read(ctx) // until somebody ends it
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[who]--; h.open[who] == 0 {
		delete(h.open, who)
	}
}

// cutAll breaks all websockets, as a network does, and says how many guests had
// one.
func (h *hall) cutAll(t *testing.T) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, cut := len(h.open), h.cut
	h.cutting, h.cut = context.WithCancel(t.Context())
	cut()
	return n
}

func (h *hall) guests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open)
}

func (h *hall) everEntered() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.entered)
}

// guest is somebody who wants into the hall.
type guest struct {
	*party
	name   string
	client *http.Client
	number int // in line; 0 for who never waited
	last   int // the position last told
}

// party is all guests.
type party struct {
	t      *testing.T
	nodes  *nodes
	ctx    context.Context
	stay   time.Duration
	people sync.WaitGroup

	mu      sync.Mutex
	numbers map[string]int
	wrong   []string
	places  int // that guests were told
	untold  int // answers without a place: a gate whose store does not answer in time knows none
}

func (p *party) guest(name string) *guest {
	jar, err := cookiejar.New(nil)
	require.NoError(p.t, err)
	return &guest{party: p, name: name, client: &http.Client{Jar: jar, Timeout: patience}}
}

func (p *party) come(name string) { p.people.Go(p.guest(name).live) }

// complain takes down what should not have been.
func (p *party) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// count takes down whether a guest was told a place, and returns that.
func (p *party) count(told bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if told {
		p.places++
	} else {
		p.untold++
	}
	return told
}

func (p *party) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.ctx.Done():
		return false
	}
}

// live is a guest's evening: in line, in the hall, and out. A websocket that ends
// before its time is opened again at once.
func (g *guest) live() {
	for !g.ask() {
		if !g.pause(time.Second) {
			return
		}
	}
	g.mu.Lock()
	g.numbers[g.name] = g.number
	g.mu.Unlock()
	for end := time.Now().Add(g.stay); time.Now().Before(end); {
		if !g.talk(end) {
			return
		}
	}
	resp, err := g.client.Post(g.nodes.any()+"/leave", "text/plain", nil)
	if err == nil {
		resp.Body.Close()
	}
}

// ask says whether the guest is in.
func (g *guest) ask() bool {
	req, err := http.NewRequestWithContext(g.ctx, http.MethodGet, g.nodes.any(), nil)
	if err != nil {
		return false
	}
	req.Header.Set("Accept", "application/json")
	resp, err := g.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return false
	}
	if string(body) == "in" {
		return true
	}
	var told struct {
		Room struct {
			PositionKnown          bool
			Position, TicketNumber int
			UsersQueued            int
		} `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(body, &told); err != nil {
		g.complain("%s is told %.200s", g.name, body)
		return false
	}
	r := told.Room
	if !g.count(r.PositionKnown) {
		return false
	}
	switch {
	case g.last != 0 && r.Position > g.last:
		g.complain("%s goes back from %d to %d", g.name, g.last, r.Position)
	case g.number != 0 && r.TicketNumber != g.number:
		g.complain("%s has number %d, and then %d", g.name, g.number, r.TicketNumber)
	case r.Position > r.UsersQueued:
		g.complain("%s is number %d of %d", g.name, r.Position, r.UsersQueued)
	}
	g.number, g.last = r.TicketNumber, r.Position
	return false
}

// talk has a websocket open until it ends or end; false means that there was none
// to be had.
func (g *guest) talk(end time.Time) bool {
	for tries := range 20 {
		if tries > 0 && !g.pause(50*time.Millisecond) {
			return false
		}
		conn, resp, err := websocket.Dial(g.ctx, strings.Replace(g.nodes.any(), "http", "ws", 1)+"/talk?who="+g.name, &websocket.DialOptions{HTTPClient: g.client})
		if err == nil {
			ctx, stop := context.WithDeadline(g.ctx, end)
			_, _, _ = conn.Read(ctx)
			stop()
			_ = conn.CloseNow()
			return g.ctx.Err() == nil
		}
		if resp != nil && resp.StatusCode != http.StatusBadGateway {
			g.complain("%s has lost the seat: %s", g.name, resp.Status)
			return false
		}
	}
	g.complain("%s finds no gate", g.name)
	return false
}

func TestAHallOfSeatsByWebsocketAcrossTwoGates(t *testing.T) {
	t.Parallel()
	const seats, guests = 30, 180
	hall := newHall(t)
	origin := httptest.NewServer(hall)
	t.Cleanup(origin.Close)
	s := serveNodesFor(t, 2, origin.URL, limits{active: seats, perMinute: 10_000, session: time.Minute},
		"--queueing-method", "line", "--occupancy", "connection", "--line-grace", "5s", "--enabled-origin-commands", "revoke",
		"--refresh-interval", "1s", "--refresh-jitter", "0.1")
	ctx, stop := context.WithCancel(t.Context())
	p := &party{t: t, nodes: s, ctx: ctx, stay: 3 * time.Second, numbers: map[string]int{}}
	t.Cleanup(func() {
		stop()
		p.people.Wait()
	})
	for i := range guests {
		p.come(fmt.Sprintf("guest-%d", i))
	}

	s.until("the hall is full", func() bool { return hall.guests() == seats })
	assert.Positive(t, hall.cutAll(t))
	s.until("those who were cut off are back", func() bool { return hall.guests() == seats })
	s.until("a third have been in", func() bool { return hall.everEntered() > guests/3 })
	s.only(s.gates[0])
	s.gates[1].kill()
	s.until("half have been in", func() bool { return hall.everEntered() > guests/2 })
	s.gates[1].start()
	s.only(s.gates...)
	require.Eventually(t, func() bool { return hall.everEntered() == guests }, 2*time.Minute, 100*time.Millisecond, "everybody gets in")
	p.people.Wait()

	assert.LessOrEqual(t, hall.most, seats, "guests in the hall at a time")
	assert.Empty(t, p.wrong)
	outages := 0
	for _, g := range s.gates {
		outages += strings.Count(g.log.String(), "store does not answer")
	}
	assert.Greater(t, p.places, 20*(p.untold-guests*outages), "guests are told their place, but while a store does not answer in time")
	assertInTurn(t, hall.entered, p.numbers)
}

// assertInTurn holds the order in which guests came in against their numbers in
// line. Seats that came free together may have been taken in any order, and the
// busier the machine is the more do; a raffle would turn half of the pairs round.
func assertInTurn(t *testing.T, entered []string, numbers map[string]int) {
	t.Helper()
	pairs, turned := 0, 0
	for i, a := range entered {
		for _, b := range entered[i+1:] {
			if numbers[a] == 0 || numbers[b] == 0 {
				continue
			}
			pairs++
			if numbers[a] > numbers[b] {
				turned++
			}
		}
	}
	assert.Positive(t, pairs)
	assert.Less(t, float64(turned)/float64(pairs), .1, "of %d pairs %d came in the other way round", pairs, turned)
}

func TestAGateThatDiesGivesItsSeatsBack(t *testing.T) {
	t.Parallel()
	const grace = 4 * time.Second
	hall := newHall(t)
	origin := httptest.NewServer(hall)
	t.Cleanup(origin.Close)
	s := serveNodesFor(t, 2, origin.URL, limits{active: 1, perMinute: 10_000, session: time.Minute},
		"--queueing-method", "line", "--occupancy", "connection", "--line-grace", grace.String())
	dead, alive := s.gates[0], s.gates[1]
	ctx, stop := context.WithCancel(t.Context())
	p := &party{t: t, nodes: s, ctx: ctx, stay: time.Minute, numbers: map[string]int{}}
	t.Cleanup(func() {
		stop()
		p.people.Wait()
	})
	s.only(dead)
	p.come("seated")
	s.until("the seat is taken", func() bool { return hall.guests() == 1 })
	s.only(alive)
	waiting := p.guest("waiting")
	for opened := time.Now(); time.Since(opened) < grace+time.Second; {
		require.False(t, waiting.ask(), "an open connection keeps the seat")
		require.True(t, p.pause(time.Second))
	}

	stop() // the seated guest does not come back
	dead.kill()
	died := time.Now()
	waiting.party = &party{t: t, nodes: s, ctx: t.Context(), numbers: map[string]int{}}
	s.until("the seat is free", waiting.ask)
	assert.Less(t, time.Since(died), grace+2*time.Second)
	assert.Empty(t, append(p.wrong, waiting.wrong...))
}

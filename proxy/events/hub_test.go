package events_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/events"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// patience is what a test waits for at most.
const patience = 20 * time.Second

var start = time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)

// fakeRoom is a room whose visitors wait until it says otherwise.
type fakeRoom struct {
	mu      sync.Mutex
	numbers *estimate.Numbers
	turns   func() room.Turns
	outcome room.Outcome
	far     bool
	visit   func() // at each check-in
	leave   func() // when somebody has gone
	visits  []room.Request
	left    []queue.Ticket
}

// atOnce has goroutines go on as they are started.
func atOnce() (take func()) { return func() {} }

func newRoom(method queue.Method) *fakeRoom {
	s := queue.Settings{Method: method, TotalActiveUsers: 1, NewUsersPerMinute: 1}.WithDefaults()
	return &fakeRoom{numbers: &estimate.Numbers{Settings: s, Waiting: 1}, turns: func() room.Turns { return room.Turns{} }, outcome: room.Queued}
}

// do changes the room, or looks into it.
func (f *fakeRoom) do(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
}

func (f *fakeRoom) Numbers() *estimate.Numbers {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.numbers
}

func (f *fakeRoom) Settings() queue.Settings { return f.Numbers().Settings }

func (f *fakeRoom) Turns() room.Turns {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.turns()
}

func (f *fakeRoom) StoreTime(now time.Time) queue.Instant { return queue.At(now) }

func (f *fakeRoom) SoldOut() bool { return false }

func (f *fakeRoom) DueIn(time.Time, queue.Ticket) time.Duration { return time.Hour }

func (f *fakeRoom) Visit(_ context.Context, _ time.Time, q room.Request) room.Decision {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.visits = append(f.visits, q); f.visit != nil {
		f.visit()
	}
	return room.Decision{Outcome: f.outcome, Ticket: q.Ticket}
}

func (f *fakeRoom) Place(time.Time, *room.Decision) (place json.RawMessage, far bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return json.RawMessage(`{"position":7}`), f.far
}

func (f *fakeRoom) Leave(_ time.Time, t queue.Ticket) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left = append(f.left, t); f.leave != nil {
		f.leave()
	}
}

// attached is what a server does that detaches no answer.
func attached(http.ResponseWriter, *http.Request, func(events.Line)) bool { return false }

// newHub returns a hub that runs until the test's end, at a time that stands still.
func newHub(t *testing.T, detach events.Detach) (h *events.Hub, panics <-chan string) {
	survived := make(chan string, 1000)
	h = events.NewHub(events.Config{Clock: func() time.Time { return start }, Uint64: rand.Uint64, Turn: atOnce, Survive: func(doing string) {
		if recover() != nil {
			survived <- doing
		}
	}, Detach: detach})
	run(t, h)
	return h, survived
}

// run runs a hub until the test's end.
func run(t *testing.T, h *events.Hub) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
}

// page is a page with an open stream.
type page struct {
	*httptest.ResponseRecorder
	mu     sync.Mutex
	closed context.CancelFunc
	ended  chan struct{}
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ResponseRecorder.Write(b)
}

// received is what the page has been sent.
func (p *page) received() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Body.String()
}

// waitFor waits until the page has been sent a text.
func (p *page) waitFor(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(p.received(), text) }, patience, time.Millisecond, text)
}

// close closes the page.
func (p *page) close() {
	p.closed()
	<-p.ended
}

// open has a visitor who waits open a stream.
func open(t *testing.T, h *events.Hub, of events.Room, id queue.ID) *page {
	ctx, closed := context.WithCancel(t.Context())
	p := &page{ResponseRecorder: httptest.NewRecorder(), closed: closed, ended: make(chan struct{})}
	q := room.Request{Ticket: queue.Ticket{State: queue.Waiting, ID: id}}
	l := events.Listener{Room: of, Now: start, Request: q, Decision: room.Decision{Outcome: room.Queued, Ticket: q.Ticket}}
	go func() {
		defer close(p.ended)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/.fairdoor/events", nil)
		h.Serve(p, r, func() (events.Listener, bool) { return l, true })
	}()
	t.Cleanup(p.close)
	p.waitFor(t, "event: place\ndata: {\"position\":7}\n\n")
	return p
}

func TestVisitorWhoseTurnHasComeIsAdmittedByTheirStream(t *testing.T) {
	h, _ := newHub(t, attached)
	of, first, second := newRoom(queue.Line), queue.ID{1}, queue.ID{2}
	p, twin, other := open(t, h, of, first), open(t, h, of, first), open(t, h, of, second)
	of.do(func() {
		of.outcome = room.Admitted
		of.turns = func() room.Turns { return room.Turns{IDs: []queue.ID{first}} }
	})
	p.waitFor(t, "event: admitted\n")
	twin.waitFor(t, "event: admitted\n")
	<-p.ended
	<-twin.ended
	assert.NotContains(t, other.received(), "admitted")
	of.do(func() {
		for _, q := range of.visits {
			assert.Equal(t, first, q.Ticket.ID)
			assert.Equal(t, room.Called, q.Ask.Prompt)
		}
	})
	assert.Equal(t, 1, h.Count(of))
}

func TestPanicInOneRoomKeepsNoOtherRoomFromItsEvents(t *testing.T) {
	h, panics := newHub(t, attached)
	broken, sound, id := newRoom(queue.Line), newRoom(queue.Line), queue.ID{1}
	open(t, h, broken, id)
	p := open(t, h, sound, id)
	broken.do(func() { broken.turns = func() room.Turns { panic("no turns") } })
	assert.Equal(t, "beat", <-panics)
	sound.do(func() {
		sound.outcome = room.Rejected
		sound.turns = func() room.Turns { return room.Turns{IDs: []queue.ID{id}} }
	})
	p.waitFor(t, "event: closed\n")
	assert.Equal(t, 1, h.Count(broken))
}

func TestGoodbyeCountsWhenTheLastStreamOfItsVisitorIsClosed(t *testing.T) {
	h, _ := newHub(t, attached)
	of, id := newRoom(queue.FIFO), queue.ID{1}
	assert.False(t, h.Goodbye(of, id, start), "they have no stream")
	p, twin := open(t, h, of, id), open(t, h, of, id)
	assert.True(t, h.Goodbye(of, id, start))
	p.close()
	of.do(func() { assert.Empty(t, of.left, "their other page is open") })
	twin.close()
	of.do(func() { assert.Len(t, of.left, 1) })
	open(t, h, of, id).close()
	of.do(func() { assert.Len(t, of.left, 1, "nobody has said goodbye this time") })
}

func TestVisitorForWhomSomebodySaidGoodbyeChecksInByTheirStream(t *testing.T) {
	h, _ := newHub(t, attached)
	of, id := newRoom(queue.FIFO), queue.ID{1}
	open(t, h, of, id)
	h.Return(of, queue.ID{2})
	h.Return(of, id)
	require.Eventually(t, func() (checkedIn bool) {
		of.do(func() { checkedIn = len(of.visits) > 0 })
		return checkedIn
	}, patience, time.Millisecond)
	of.do(func() { assert.Equal(t, room.Returned, of.visits[0].Ask.Prompt) })
}

func TestVisitorsWhoWereLetInElsewhereAreToldByEachOfTheirStreams(t *testing.T) {
	h, _ := newHub(t, attached)
	of, id := newRoom(queue.Random), queue.ID{1}
	pages := []*page{open(t, h, of, id), open(t, h, of, id)}
	of.do(func() { of.outcome = room.Admitted })
	h.Enter(of, queue.ID{2})
	h.Enter(of, id)
	for _, p := range pages {
		p.waitFor(t, "event: admitted\n")
	}
}

func TestDrainEndsAllStreams(t *testing.T) {
	h, _ := newHub(t, attached)
	of := newRoom(queue.FIFO)
	pages := []*page{open(t, h, of, queue.ID{1}), open(t, h, of, queue.ID{2}), open(t, h, newRoom(queue.Random), queue.ID{1})}
	h.Goodbye(of, queue.ID{1}, start)
	h.Drain()
	for _, p := range pages {
		<-p.ended
	}
	assert.Zero(t, h.Count(of))
	of.do(func() { assert.Empty(t, of.left, "their pages are open, and listen elsewhere") })
}

func TestRoomsTellTheNumbersOfTheirMethod(t *testing.T) {
	for method, want := range map[queue.Method]string{
		queue.FIFO:   `{"queueingMethod":"fifo","usersQueued":4,"admissionsPaused":true,"isEventPrequeueing":false,"timeUntilEventStart":0,"buckets":[{"key":"2021-05-27T15:54:00Z","usersAhead":3,"waitTimeKnown":false,"waitTime":0},{"key":"2021-05-27T15:54:09.999Z","usersAhead":3,"waitTimeKnown":false,"waitTime":0}],"lastUpdated":"2021-05-27T15:54:10Z"}`,
		queue.Line:   `{"queueingMethod":"line","usersQueued":4,"admissionsPaused":true,"isEventPrequeueing":false,"timeUntilEventStart":0,"firstWaitingNumber":4,"lastWaitingNumber":9,"usersPreferred":2,"lastUpdated":"2021-05-27T15:54:10Z"}`,
		queue.Random: `{"queueingMethod":"random","usersQueued":4,"admissionsPaused":true,"isEventPrequeueing":false,"timeUntilEventStart":0,"waitTimeKnown":false,"waitTime":0,"waitTime25Percentile":0,"waitTime50Percentile":0,"waitTime75Percentile":0,"lastUpdated":"2021-05-27T15:54:10Z"}`,
		queue.Reject: `{"queueingMethod":"reject","usersQueued":4,"admissionsPaused":true,"isEventPrequeueing":false,"timeUntilEventStart":0,"lastUpdated":"2021-05-27T15:54:10Z"}`,
	} {
		t.Run(method.String(), func(t *testing.T) {
			h, _ := newHub(t, attached)
			of := newRoom(method)
			of.numbers.At = queue.At(start)
			of.numbers.Line = estimate.LineNumbers{First: 4, Last: 9, Preferred: 2}
			of.numbers.Buckets = []queue.Reserved{{}}
			of.numbers.Buckets[0].Bucket, of.numbers.Buckets[0].Ahead, of.numbers.Buckets[0].Waiting = queue.At(start.Truncate(time.Minute)), 3, 1
			of.numbers.Waiting, of.numbers.Paused = 4, true
			open(t, h, of, queue.ID{1}).waitFor(t, "event: numbers\ndata: "+want+"\n\n")
		})
	}
}

func TestWhileNobodyComesOrGoesNoNumbersAreTold(t *testing.T) {
	var now atomic.Int64 // in seconds since the start
	h := events.NewHub(events.Config{Clock: func() time.Time { return start.Add(time.Duration(now.Load()) * time.Second) }, Uint64: rand.Uint64, Turn: atOnce, Survive: func(string) {}, Detach: attached})
	run(t, h)
	of, looks := newRoom(queue.FIFO), 0
	at := func(second int64, waiting int) {
		of.do(func() {
			n := &estimate.Numbers{At: queue.At(start.Add(time.Duration(second) * time.Second)), Settings: of.numbers.Settings, Waiting: waiting,
				Buckets: []queue.Reserved{{}}}
			n.Buckets[0].Bucket, n.Buckets[0].Waiting = queue.At(start.Add(-5*time.Second)), waiting
			of.numbers, looks = n, 0
		})
		now.Store(second)
	}
	at(0, 1)
	of.turns = func() room.Turns { looks++; return room.Turns{} } // at each beat
	p := open(t, h, of, queue.ID{1})
	p.waitFor(t, `"usersQueued":1`)
	for second := range int64(5) {
		at(2*second, 1)
		require.Eventually(t, func() (looked bool) { of.do(func() { looked = looks > 1 }); return looked }, patience, time.Millisecond)
	}
	late := open(t, h, of, queue.ID{2})
	late.waitFor(t, `"usersQueued":1`)
	assert.Contains(t, late.received(), `"lastUpdated":"2021-05-27T15:54:18Z"`, "what a page is told is no older than its place")
	at(20, 2)
	p.waitFor(t, `"usersQueued":2`)
	assert.Equal(t, 2, strings.Count(p.received(), "event: numbers"), p.received())
}

func TestNumbersOfNobodyAreToldWhenAStreamBegins(t *testing.T) {
	h, _ := newHub(t, attached)
	of := newRoom(queue.FIFO)
	of.numbers.Waiting, of.numbers.Incomplete = 0, true
	open(t, h, of, queue.ID{1}).waitFor(t, `"usersQueued":0`)
}

func TestThePrequeueOfAnEventIsTold(t *testing.T) {
	for want, e := range map[string]queue.ActiveEvent{
		`"isEventPrequeueing":true,"timeUntilEventStart":9,`:  {Name: "sale", Prequeueing: true, Start: queue.At(start.Add(8*time.Minute + time.Second))},
		`"isEventPrequeueing":false,"timeUntilEventStart":0,`: {Name: "sale", Start: queue.At(start.Add(-time.Minute))},
	} {
		h, _ := newHub(t, attached)
		of := newRoom(queue.Random)
		of.numbers.At, of.numbers.Settings.Event = queue.At(start), e
		open(t, h, of, queue.ID{1}).waitFor(t, want)
	}
}

// lines are those of a server that detaches answers. Each ends with its test.
type lines struct {
	t    *testing.T
	slow func(n int) bool // whether nobody reads the n-th
	mu   sync.Mutex
	open []*line
}

func (ls *lines) detach(_ http.ResponseWriter, _ *http.Request, serve func(events.Line)) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := &line{closed: make(chan struct{}), slow: ls.slow(len(ls.open))}
	ls.open = append(ls.open, l)
	served := make(chan struct{})
	go func() {
		defer close(served)
		serve(l)
	}()
	ls.t.Cleanup(func() {
		l.hangUp()
		<-served
	})
	return true
}

// line is a detached answer.
type line struct {
	slow   bool
	mu     sync.Mutex
	text   strings.Builder
	once   sync.Once
	closed chan struct{}
}

func (l *line) Write(p []byte) (int, error) {
	if l.slow {
		<-l.closed
		return 0, io.ErrClosedPipe
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *line) Close() error {
	l.hangUp()
	return nil
}

func (l *line) hangUp() { l.once.Do(func() { close(l.closed) }) }

func (l *line) Wait() { <-l.closed }

func (l *line) heard(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// listen has a visitor who waits open a stream that is detached.
func listen(h *events.Hub, of events.Room, id queue.ID) {
	q := room.Request{Ticket: queue.Ticket{State: queue.Waiting, ID: id}}
	l := events.Listener{Room: of, Now: start, Request: q, Decision: room.Decision{Outcome: room.Queued, Ticket: q.Ticket}}
	h.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/.fairdoor/events", nil), func() (events.Listener, bool) { return l, true })
}

func TestManyWhoDoNotReadHoldUpNobody(t *testing.T) {
	const slow = 3000 // more than act at a time
	all := &lines{t: t, slow: func(n int) bool { return n < slow }}
	h, _ := newHub(t, all.detach)
	of := newRoom(queue.FIFO)
	for i := range slow + 1 {
		listen(h, of, queue.ID{byte(i), byte(i >> 8)})
	}
	require.Eventually(t, func() bool { return all.open[slow].heard("event: numbers") }, patience, time.Millisecond)
	assert.Equal(t, slow+1, h.Count(of))
	h.Drain()
	require.Eventually(t, func() bool { return h.Count(of) == slow }, patience, time.Millisecond, "those who read are gone")
}

func TestAPanicInAStreamEndsItAlone(t *testing.T) {
	all := &lines{t: t, slow: func(int) bool { return false }}
	h, panics := newHub(t, all.detach)
	of := newRoom(queue.Line)
	listen(h, of, queue.ID{1})
	listen(h, of, queue.ID{2})
	of.do(func() {
		of.visit = func() { panic("no decision") }
		of.turns = func() room.Turns { return room.Turns{IDs: []queue.ID{{1}}} }
	})
	assert.Equal(t, "event stream", <-panics)
	require.Eventually(t, func() bool { return h.Count(of) == 1 }, patience, time.Millisecond)
	<-all.open[0].closed
	require.Eventually(t, func() bool { return all.open[1].heard("event: numbers") }, patience, time.Millisecond)
}

func TestAPanicAtTheEndOfAStreamIsSurvived(t *testing.T) {
	all := &lines{t: t, slow: func(int) bool { return false }}
	h, panics := newHub(t, all.detach)
	of, id := newRoom(queue.FIFO), queue.ID{1}
	of.leave = func() { panic("no leave") }
	listen(h, of, id)
	assert.True(t, h.Goodbye(of, id, start))
	all.open[0].hangUp()
	assert.Equal(t, "event stream", <-panics)
	assert.Zero(t, h.Count(of))
}

func TestAStreamOfSomebodyFarTellsTheirPlaceAndEndsUntilTheyAreDue(t *testing.T) {
	h, _ := newHub(t, attached)
	of, id := newRoom(queue.FIFO), queue.ID{1}
	of.far = true
	p := open(t, h, of, id)
	<-p.ended
	assert.Regexp(t, `^retry: 360\d{4}\n\nevent: place\ndata: {"position":7}\n\n$`, p.received(), "an hour, and a little")
	assert.Zero(t, h.Count(of))
	of.do(func() { assert.Empty(t, of.left, "they have not gone") })

	of.do(func() { of.far = false })
	near := open(t, h, of, id)
	of.do(func() {
		of.far = true
		of.turns = func() room.Turns { return room.Turns{IDs: []queue.ID{id}} }
	})
	require.Eventually(t, func() bool { return strings.Count(near.received(), "event: place\n") > 1 }, patience, time.Millisecond)
	assert.Equal(t, 1, h.Count(of), "a stream that is open stays")
}

package endtoend_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// crowd is the people who come to a gate at about the same time.
type crowd struct {
	t      *testing.T
	where  func() string // the address of the next request
	limits limits
	client *http.Client
	ctx    context.Context // of all visits
	stop   context.CancelFunc
	people sync.WaitGroup

	mu       sync.Mutex
	waits    []wait
	joined   map[string]time.Time // when they first asked: the earliest that they can have joined
	admitted map[string]time.Time
	lost     []string // requests without a proper answer
	broken   bool     // the gate is away, and requests may be lost
}

func newCrowd(t *testing.T, url string, l limits) *crowd {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.DisableCompression = 500, true
	ctx, cancel := context.WithCancel(t.Context())
	c := &crowd{t: t, where: func() string { return url }, limits: l, ctx: ctx, stop: cancel, joined: map[string]time.Time{}, admitted: map[string]time.Time{},
		client: &http.Client{Transport: transport, Timeout: patience}}
	t.Cleanup(func() {
		cancel()
		c.people.Wait()
		transport.CloseIdleConnections()
	})
	return c
}

// person is how somebody behaves.
type person struct {
	delay    time.Duration // until they come
	every    time.Duration // how often they ask; 0 as they are told
	forget   bool          // without their tickets
	patience time.Duration // after which they close the page; 0 for no end
	browse   time.Duration // how long they stay once they are in
}

// visit is a person's visit under way.
type visit struct {
	*crowd
	person
	name    string
	tickets string
	method  string // of the requests; default GET
	header  string // sent with each request, if there is one
	arrived time.Time
}

// come has n people come, under names that begin with kind.
func (c *crowd) come(kind string, n int, p func(i int) person) {
	for i := range n {
		v := &visit{crowd: c, person: p(i), name: fmt.Sprintf("%s-%d", kind, i)}
		c.people.Go(v.live)
	}
}

// pause waits as a client's timer does; false means that everything is over.
func (v *visit) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-v.ctx.Done():
		return false
	}
}

func (v *visit) live() {
	if !v.pause(v.delay) {
		return
	}
	begun := time.Now()
	for v.ctx.Err() == nil && (v.patience == 0 || time.Since(begun) < v.patience) {
		sent := time.Now()
		a, err := v.ask(sent)
		if err == nil && a.in {
			v.stay(sent)
			return
		}
		told := max(time.Duration(a.seconds)*time.Second, time.Second)
		if v.every > 0 {
			told = v.every
		}
		answered := time.Now()
		going := v.pause(told)
		if err == nil && v.every == 0 {
			v.waited(answered, time.Now())
		}
		if !going {
			return
		}
	}
}

// waited takes down that the visitor was present.
func (v *visit) waited(from, to time.Time) {
	if v.arrived.IsZero() {
		v.arrived = from
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waits = append(v.waits, wait{visitor: v.name, arrived: v.arrived, from: from, to: to})
}

// stay looks around for a while: whoever is in stays in.
func (v *visit) stay(entered time.Time) {
	v.mu.Lock()
	v.admitted[v.name] = entered
	v.mu.Unlock()
	last := entered
	for time.Since(entered) < v.browse {
		if !v.pause(v.limits.session / 4) {
			return
		}
		sent := time.Now()
		a, err := v.ask(sent)
		if err != nil {
			continue
		}
		if time.Since(last) < v.limits.session {
			assert.True(v.t, a.in, "%s was sent out of the room", v.name)
		}
		last = sent
	}
}

// reply is an answer as a client sees it.
type reply struct {
	in      bool
	seconds int
}

var errImproper = errors.New("neither in nor told to wait")

// ask sends one request with the visitor's tickets, and keeps the new ones.
func (v *visit) ask(sent time.Time) (reply, error) {
	req, err := http.NewRequestWithContext(v.ctx, cmp.Or(v.method, http.MethodGet), v.where(), nil)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set(visitorHeader, v.name)
	req.Header.Set(sentHeader, strconv.FormatInt(sent.UnixNano(), 10))
	if v.tickets != "" {
		req.Header.Set("Cookie", v.tickets)
	}
	if v.header != "" {
		req.Header.Set(v.header, "1")
	}
	v.mu.Lock()
	if _, ok := v.joined[v.name]; !ok {
		v.joined[v.name] = sent
	}
	v.mu.Unlock()
	a, err := v.read(v.client.Do(req))
	if err != nil && v.ctx.Err() == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		if !v.broken {
			v.lost = append(v.lost, fmt.Sprintf("%s: %v", v.name, err))
		}
	}
	return a, err
}

func (v *visit) read(resp *http.Response, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	for _, c := range resp.Cookies() {
		v.keep(c)
	}
	var told struct {
		Room struct {
			Waiting bool `json:"inWaitingRoom"`
		} `json:"cfWaitingRoom"`
	}
	switch {
	case resp.StatusCode == http.StatusOK && string(body) == "in":
		return reply{in: true}, nil
	case json.Unmarshal(body, &told) == nil && told.Room.Waiting:
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		return reply{seconds: seconds}, err
	}
	return reply{}, fmt.Errorf("%w: %s %.100s", errImproper, resp.Status, body)
}

func (v *visit) keep(c *http.Cookie) {
	if !v.forget {
		v.tickets = c.Name + "=" + c.Value
	}
}

// end ends all visits.
func (c *crowd) end() {
	c.stop()
	c.people.Wait()
}

// over waits until everyone has left by themselves.
func (c *crowd) over() {
	c.t.Helper()
	done := make(chan struct{})
	go func() {
		c.people.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(2 * patience):
		assert.Fail(c.t, "people still wait")
	}
}

// breaking says whether the gate may be away for now.
func (c *crowd) breaking(is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = is
}

// noneLost asserts that every request was answered.
func (c *crowd) noneLost() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	assert.Empty(c.t, c.lost, "requests without a proper answer")
}

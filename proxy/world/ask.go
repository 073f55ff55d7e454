package world

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Types of answers.
const (
	asHTML = "text/html,application/xhtml+xml,*/*;q=0.8"
	asJSON = "application/json"
)

// request is what a visitor asks. A GET of the site's page is the zero request.
type request struct {
	method    string // GET by default
	path      string // / by default
	accept    string
	form      string // the body
	returning bool   // a page asks again
	whole     bool   // the visitor reads the answer, of whatever type
	part      string // of a page, as browsers call it; "" for none
}

// answer is what a visitor is answered with.
type answer struct {
	lost   bool // there was none
	whole  bool // the body is kept, of whatever type
	gate   int
	sent   time.Duration // when the request was, of a guest
	status int
	header http.Header
	body   []byte
	room   Room // where the body has it
}

// in says whether the answer is the site's.
func (a *answer) in() bool { return !a.lost && len(a.header[siteHeader]) > 0 }

// waits says whether the answer tells to wait.
func (a *answer) waits() bool { return !a.lost && a.header.Get("Fairdoor-Room") != "" && a.retry() > 0 }

// retry is when to ask again; 0 if the answer does not say so.
func (a *answer) retry() time.Duration {
	seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second
}

// Write and the others implement http.ResponseWriter, for the gate.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.whole || a.header.Get("Content-Type") == asJSON {
		a.body = append(a.body, p...)
	}
	return len(p), nil
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// ask sends a request and waits for the answer. It notes what the visitor is told.
func (v *visitor) ask(q request) *answer {
	sent, brought := v.world.history.now(), v.cookie
	v.travel()
	a := &answer{header: http.Header{}, whole: q.whole}
	handler, p := v.world.route(v)
	if p == nil || v.isOffline() {
		a.lost = true
		v.note(Event{What: Lost, Sent: sent, Text: "no gate is reached"})
		v.travel()
		return a
	}
	ctx, done := p.on.front.connect(p.lives)
	defer done()
	p.run()
	p.begin()
	handler.ServeHTTP(a, v.request(ctx, q, sent, brought))
	p.run()
	a.gate = p.on.number
	if a.lost = ctx.Err() != nil; !a.lost {
		a.read()
		v.hear(a, sent, v.ticketAfter(a.header, brought))
	} else {
		v.note(Event{What: Lost, Sent: sent, Gate: p.on.number, Text: "the connection has broken"})
	}
	v.travel()
	if !a.lost && v.isOffline() {
		a.lost = true
		v.note(Event{What: Lost, Sent: sent, Gate: a.gate, Text: "it does not come through"})
	}
	if !a.lost {
		v.keep(a.header)
		if a.in() && !v.strange {
			v.note(Event{What: Served, Gate: a.gate, Sent: sent, Ticket: v.ticketAfter(a.header, brought)})
		}
	}
	return a
}

// read reads the JSON of an answer of a room.
func (a *answer) read() {
	if len(a.body) == 0 {
		return
	}
	var told struct {
		Room Room `json:"cfWaitingRoom"`
	}
	if json.Unmarshal(a.body, &told) == nil {
		a.room = told.Room
	}
}

// hear notes what the gate tells the visitor.
func (v *visitor) hear(a *answer, sent time.Duration, t Ticket) {
	switch {
	case a.in(), a.status == http.StatusNoContent, a.status == http.StatusSeeOther, a.whole:
	case a.waits():
		a.room.Retry = int(a.retry() / time.Second)
		v.note(Event{What: Waits, Gate: a.gate, Sent: sent, Room: a.room, Ticket: t})
	default:
		v.note(Event{What: Shut, Sent: sent, Gate: a.gate, Ticket: t, Text: http.StatusText(a.status)})
	}
}

// isOffline says whether nothing passes between the visitor and the gates.
func (v *visitor) isOffline() bool { return v.world.history.now() < v.offlineUntil }

// travel is the way between the visitor and the gates.
func (v *visitor) travel() { wait(10*time.Millisecond + v.upTo(80*time.Millisecond)) }

// request makes a request that brings a ticket.
func (v *visitor) request(ctx context.Context, q request, sent time.Duration, ticket string) *http.Request {
	if q.method == "" {
		q.method = http.MethodGet
	}
	if q.path == "" {
		q.path = "/"
	}
	h := http.Header{
		"Accept": {q.accept}, "X-Forwarded-For": {v.address()}, personHeader: {strconv.Itoa(v.number)}, sentHeader: {strconv.FormatInt(int64(sent), 10)},
	}
	if cookies := strings.Trim(ticket+"; "+v.pass, "; "); cookies != "" {
		h["Cookie"] = []string{cookies}
	}
	if v.copied != "" {
		h[copyHeader] = []string{v.copied}
	}
	if v.agent != "" {
		h["User-Agent"] = []string{v.agent}
	}
	if q.part != "" {
		h[partHeader] = []string{q.part}
	}
	if q.returning {
		h["Fairdoor-Returning"] = []string{"1"}
	}
	path, query, _ := strings.Cut(q.path, "?")
	r := &http.Request{
		Method: q.method, URL: &url.URL{Path: path, RawQuery: query}, RequestURI: q.path, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: http.NoBody, ContentLength: int64(len(q.form)), Host: "shop.example", RemoteAddr: balancer + ":4711",
	}
	if q.form != "" {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = io.NopCloser(strings.NewReader(q.form))
	}
	return r.WithContext(ctx)
}

// address is where the visitor comes from.
func (v *visitor) address() string { return v.network + "." + strconv.Itoa(v.Number&255) }

// balancer is the address from which all requests come to the gates, with those of the visitors in
// a header.
const balancer = "192.0.2.1"

// route is the balancer: it sends most requests of a visitor to the same gate, and to another when
// that one is away.
func (w *world) route(v *visitor) (http.Handler, *process) {
	first := v.home
	if v.random.IntN(4) == 0 {
		first = v.random.IntN(len(w.machines))
	}
	for i := range w.machines {
		if h, p := w.machines[(first+i)%len(w.machines)].handler(); p != nil {
			return h, p
		}
	}
	return nil, nil
}

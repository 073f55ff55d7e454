package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// streamer is the built-in page in a browser: it has a stream open while it waits. Where the stream of
// somebody who is far ends at once, it comes again when the stream has said.
func (v *visitor) streamer() {
	for !v.fedUp() {
		a := v.ask(request{accept: asHTML})
		switch {
		case a.in():
			if v.browse(asHTML) {
				return
			}
		case a.waits():
			v.listen()
		default:
			v.waitMore(v.around(v.world.plan.Settings.RefreshInterval))
		}
	}
	v.giveUp()
}

// listen opens streams until one says that the page is to be loaded, or the visitor is fed up.
func (v *visitor) listen() {
	for tries := 0; !v.fedUp(); tries++ {
		s := v.open()
		if s == nil {
			v.waitMore(v.around(2 * time.Second))
			continue
		}
		if s.attend() {
			v.wait(v.upTo(200 * time.Millisecond))
			return
		}
		v.waitMore(time.Duration(s.retry.Load())*time.Millisecond + v.upTo(100*time.Millisecond))
	}
}

// stream is a visitor's open stream. It implements http.ResponseWriter and http.Flusher for the
// gate.
type stream struct {
	visitor *visitor
	process *process
	lives   context.Context
	sent    time.Duration
	brought string // the ticket as it was sent
	ticket  Ticket // that the visitor has then
	header  http.Header
	status  int
	opened  chan struct{} // closed when the header has come
	retry   atomic.Int64  // in how many milliseconds a browser opens another when this one has ended
	load    atomic.Bool   // an event has said that the page is to be loaded
	ended   chan struct{} // closed when the gate has ended the stream, as it does then
	leave   func()
}

// open opens a stream; nil if it cannot.
func (v *visitor) open() *stream {
	sent, brought := v.world.history.now(), v.cookie
	v.travel()
	handler, p := v.world.route(v)
	if p == nil {
		v.note(Event{What: Lost, Sent: sent, Text: "no gate runs"})
		return nil
	}
	ctx, done := p.on.front.connect(p.lives)
	s := &stream{
		visitor: v, process: p, lives: ctx, sent: sent, brought: brought, header: http.Header{}, opened: make(chan struct{}), ended: make(chan struct{}), leave: done,
	}
	s.retry.Store(2000) // until the gate has said
	r := v.request(ctx, request{path: "/.fairdoor/events?room=" + roomName, accept: "text/event-stream"}, sent, brought)
	go func() {
		defer close(s.ended)
		p.run()
		p.begin()
		handler.ServeHTTP(s, r)
	}()
	select {
	case <-s.opened:
	case <-s.ended:
	}
	v.travel()
	if s.status != http.StatusOK || ctx.Err() != nil {
		s.end()
		return nil
	}
	v.keep(s.header)
	return s
}

// end closes the stream and waits for the gate's end of it.
func (s *stream) end() {
	s.leave()
	<-s.ended
}

// attend waits until the stream says that the page is to be loaded, or ends, or the visitor is fed
// up. It says whether the page is to be loaded.
func (s *stream) attend() bool {
	v := s.visitor
	defer s.end()
	rest := v.world.plan.Lasts - v.world.history.now()
	if v.Patience > 0 {
		rest = min(rest, v.joined+v.Patience-v.world.history.now())
	}
	timer := time.NewTimer(max(rest, 0) + v.upTo(time.Millisecond))
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
	}
	v.travel()
	return s.load.Load()
}

// Header implements http.ResponseWriter.
func (s *stream) Header() http.Header { return s.header }

// WriteHeader implements http.ResponseWriter.
func (s *stream) WriteHeader(status int) {
	if s.status == 0 && status >= http.StatusOK {
		s.status, s.ticket = status, s.visitor.ticketAfter(s.header, s.brought)
		close(s.opened)
	}
}

var errGone = errors.New("the connection has ended")

// Write implements http.ResponseWriter. It notes what the visitor is told.
func (s *stream) Write(p []byte) (int, error) {
	s.process.run()
	s.WriteHeader(http.StatusOK)
	if s.lives.Err() != nil {
		return 0, errGone
	}
	for part := range bytes.SplitSeq(p, []byte("\n\n")) {
		name, data := parse(part)
		s.hear(name, data)
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (s *stream) Flush() {}

// parse reads an event of a stream.
func parse(text []byte) (name string, data []byte) {
	for line := range bytes.Lines(text) {
		switch key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": ")); string(key) {
		case "event":
			name = string(value)
		case "data":
			data = value
		case "retry":
			name, data = "retry", value
		}
	}
	return name, data
}

func (s *stream) hear(name string, data []byte) {
	v := s.visitor
	switch name {
	case "retry":
		if ms, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64); err == nil {
			s.retry.Store(ms)
		}
	case "place":
		var room Room
		if err := json.Unmarshal(data, &room); err == nil {
			v.note(Event{What: Waits, Gate: s.process.on.number, Sent: s.sent, Room: room, Ticket: s.ticket})
		}
	case "admitted":
		v.note(Event{What: Enters, Gate: s.process.on.number, Sent: v.world.history.now(), Ticket: s.ticket})
		s.load.Store(true)
	case "closed":
		v.note(Event{What: Shut, Gate: s.process.on.number, Text: "the stream says closed"})
		s.load.Store(true)
	}
}

package gatetest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Listener is somebody with an open event stream.
type Listener struct {
	T      testing.TB
	Header http.Header
	events <-chan Event // closed at the stream's end
	HangUp context.CancelFunc
}

// Event is one of a stream; a comment has no name.
type Event struct {
	name, text string
	Data       map[string]any
}

// Listen opens an event stream.
func (v *Visitor) Listen(query string, changes ...func(*http.Request)) *Listener {
	v.Fixture.T.Helper()
	return v.ListenTo("/.fairdoor/events"+query, changes...)
}

// ListenTo opens an event stream at a target.
func (v *Visitor) ListenTo(target string, changes ...func(*http.Request)) *Listener {
	v.Fixture.T.Helper()
	ctx, hangUp := context.WithCancel(v.Fixture.T.Context())
	resp, err := v.Client.Transport.RoundTrip(v.request(ctx, http.MethodGet, target, "text/event-stream", nil, changes))
	require.NoError(v.Fixture.T, err)
	require.Equal(v.Fixture.T, http.StatusOK, resp.StatusCode)
	for _, c := range resp.Cookies() {
		v.Cookies[c.Name] = c.Value
	}
	events := make(chan Event, 1000)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		readEvents(resp, events)
	}()
	v.Fixture.T.Cleanup(hangUp)
	return &Listener{T: v.Fixture.T, Header: resp.Header, events: events, HangUp: hangUp}
}

func readEvents(resp *http.Response, to chan<- Event) {
	var e Event
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		switch field, value, _ := strings.Cut(lines.Text(), ":"); {
		case field == "event":
			e.name = value[1:]
		case field == "data":
			e.text = value[1:]
			_ = json.Unmarshal([]byte(e.text), &e.Data)
		case field == "" && lines.Text() == "":
			to <- e
			e = Event{}
		default:
			e.text = lines.Text()
		}
	}
}

// Next returns the next event of this name, and passes others over.
func (l *Listener) Next(name string) Event {
	l.T.Helper()
	limit := time.After(Patience)
	for {
		select {
		case e, open := <-l.events:
			require.True(l.T, open, "the stream has ended without %q", name)
			if e.name == name && (name != "" || strings.HasPrefix(e.text, ":")) {
				return e
			}
		case <-limit:
			require.FailNow(l.T, "no event", name)
		}
	}
}

// Rest returns the names of what is told until the stream ends.
func (l *Listener) Rest() []string {
	l.T.Helper()
	var names []string
	limit := time.After(Patience)
	for {
		select {
		case e, open := <-l.events:
			if !open {
				return names
			}
			names = append(names, e.name)
		case <-limit:
			require.FailNow(l.T, "the stream goes on", names)
		}
	}
}

// EndsWith waits for the end of the stream, before which nothing is told but that.
func (l *Listener) EndsWith(name string) {
	l.T.Helper()
	names := l.Rest()
	require.NotEmpty(l.T, names)
	assert.Equal(l.T, name, names[len(names)-1])
}

// Quiet says that nobody has been told of a turn so far.
func (l *Listener) Quiet() {
	l.T.Helper()
	for {
		select {
		case e, open := <-l.events:
			require.True(l.T, open, "the stream has ended")
			require.NotEqual(l.T, "admitted", e.name)
		default:
			return
		}
	}
}

// Soon waits for what happens while the fixture's rooms sync.
func (f *Fixture) Soon(what func() bool) {
	f.T.Helper()
	require.Eventually(f.T, func() bool {
		for _, r := range f.Config.Rooms {
			f.Status(r.Name)
		}
		return what()
	}, Patience, 10*time.Millisecond)
}

// Streams counts the open event streams of the first room.
func (f *Fixture) Streams() float64 {
	return f.Families()["fairdoor_event_streams shop"].GetGauge().GetValue()
}

// Leaves ends the session of somebody who is in.
func (v *Visitor) Leaves() {
	v.Fixture.T.Helper()
	Revokes(v.Fixture.Site, "Fairdoor-Command", "revoke")
	v.Get("/logout")
}

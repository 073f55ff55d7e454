package proxy_test

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

// listener is somebody with an open event stream.
type listener struct {
	t      testing.TB
	header http.Header
	events <-chan event // closed at the stream's end
	hangUp context.CancelFunc
}

// event is one of a stream; a comment has no name.
type event struct {
	name, text string
	data       map[string]any
}

// listen opens an event stream.
func (v *visitor) listen(query string, changes ...func(*http.Request)) *listener {
	v.f.t.Helper()
	ctx, hangUp := context.WithCancel(v.f.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+"/.fairdoor/events"+query, nil)
	require.NoError(v.f.t, err)
	req.Host = v.host
	req.Header.Set("Accept", "text/event-stream")
	for name, value := range v.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, change := range changes {
		change(req)
	}
	resp, err := v.client.Transport.RoundTrip(req)
	require.NoError(v.f.t, err)
	require.Equal(v.f.t, http.StatusOK, resp.StatusCode)
	for _, c := range resp.Cookies() {
		v.cookies[c.Name] = c.Value
	}
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		readEvents(resp, events)
	}()
	v.f.t.Cleanup(hangUp)
	return &listener{t: v.f.t, header: resp.Header, events: events, hangUp: hangUp}
}

func readEvents(resp *http.Response, to chan<- event) {
	var e event
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		switch field, value, _ := strings.Cut(lines.Text(), ":"); {
		case field == "event":
			e.name = value[1:]
		case field == "data":
			e.text = value[1:]
			_ = json.Unmarshal([]byte(e.text), &e.data)
		case field == "" && lines.Text() == "":
			to <- e
			e = event{}
		default:
			e.text = lines.Text()
		}
	}
}

// next returns the next event of this name, and passes others over.
func (l *listener) next(name string) event {
	l.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e, open := <-l.events:
			require.True(l.t, open, "the stream has ended without %q", name)
			if e.name == name && (name != "" || strings.HasPrefix(e.text, ":")) {
				return e
			}
		case <-limit:
			require.FailNow(l.t, "no event", name)
		}
	}
}

// rest returns the names of what is told until the stream ends.
func (l *listener) rest() []string {
	l.t.Helper()
	var names []string
	limit := time.After(patience)
	for {
		select {
		case e, open := <-l.events:
			if !open {
				return names
			}
			names = append(names, e.name)
		case <-limit:
			require.FailNow(l.t, "the stream goes on", names)
		}
	}
}

// ends waits for the end of the stream, before which nothing is told but that.
func (l *listener) endsWith(name string) {
	l.t.Helper()
	names := l.rest()
	require.NotEmpty(l.t, names)
	assert.Equal(l.t, name, names[len(names)-1])
}

// quiet says that nobody has been told of a turn so far.
func (l *listener) quiet() {
	l.t.Helper()
	for {
		select {
		case e, open := <-l.events:
			require.True(l.t, open, "the stream has ended")
			require.NotEqual(l.t, "admitted", e.name)
		default:
			return
		}
	}
}

// soon waits for what happens while the fixture's rooms sync.
func (f *fixture) soon(what func() bool) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		for _, r := range f.config.Rooms {
			f.status(r.Name)
		}
		return what()
	}, patience, 10*time.Millisecond)
}

// streams counts the open event streams of the first room.
func (f *fixture) streams() float64 {
	return f.metrics()["fairdoor_event_streams shop"].GetGauge().GetValue()
}

// leaves ends the session of somebody who is in.
func (v *visitor) leaves() {
	v.f.t.Helper()
	revokes(v.f.site, "Fairdoor-Command", "revoke")
	v.get("/logout")
}

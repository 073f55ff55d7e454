package browsertest_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/templates"
)

const place = `document.getElementById('position').textContent`

// script is a gate of which a test says what it answers and which events it
// sends.
type script struct {
	t   *testing.T
	url string
	set *templates.Set

	mu       sync.Mutex
	data     templates.Data
	lang     string         // of the page; "" means en-US
	seconds  int            // between check-ins
	left     int            // of them; 0 means all
	also     map[string]any // fields of the JSON besides
	admitted bool
	standing string // what the session says
	deaf     bool   // there are no events
	broken   bool   // no check-in is answered
	limited  bool   // each check-in is one too many
	checkIns int
	streams  int // opened so far
	open     chan string
}

func newScript(t *testing.T, data templates.Data, seconds int) *script {
	t.Helper()
	set, err := templates.NewSet(templates.Options{})
	require.NoError(t, err)
	s := &script{t: t, set: set, data: data, seconds: seconds}
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.page)
	mux.HandleFunc("POST /.fairdoor/leave", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /.fairdoor/events", s.events)
	mux.HandleFunc("GET /.fairdoor/session", s.session)
	mux.HandleFunc("GET /elsewhere", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "elsewhere")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(s.cut)
	s.url = server.URL
	return s
}

func (s *script) page(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Fairdoor-Visibility") != "" {
		if s.checkIns++; s.broken {
			panic(http.ErrAbortHandler) // as a connection that breaks
		}
		if s.limited {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	switch {
	case s.admitted:
		_, _ = io.WriteString(w, "<!doctype html><title>Shop</title><h1>Welcome</h1>")
	case templates.WantsJSON(r.Header.Get("Accept"), false):
		h.Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"cfWaitingRoom": s.object()})
	default:
		h.Set("Content-Security-Policy", s.set.ContentSecurityPolicy())
		_, _ = w.Write(s.set.Page(cmp.Or(s.lang, "en-US"), s.data).AppendTo(nil, s.visitor()))
	}
}

// object is what the visitor is told of their place.
func (s *script) object() map[string]any {
	var answer struct {
		Room map[string]any `json:"cfWaitingRoom"`
	}
	assert.NoError(s.t, json.Unmarshal(s.set.JSON(s.data).AppendTo(nil, s.visitor()), &answer))
	maps.Copy(answer.Room, s.also)
	return answer.Room
}

func (s *script) session(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"rooms": []map[string]any{{"room": "shop", "status": s.standing}}})
}

func (s *script) visitor() templates.Visitor {
	return templates.Visitor{LastUpdated: time.Now(), ArrivedAt: arrived, PlacedAt: arrived, Entry: "4F7K", RefreshSeconds: s.seconds, LeftSeconds: cmp.Or(s.left, s.seconds), Place: s.data.Place}
}

func (s *script) events(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.deaf || r.URL.Query().Get("room") != "shop" || r.Header.Get("Accept") != "text/event-stream" {
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	open := make(chan string, 100)
	s.streams++
	s.open = open
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "retry: 100\n\n")
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case event, more := <-open:
			if !more {
				return
			}
			_, _ = io.WriteString(w, event)
		case <-r.Context().Done():
			return
		}
	}
}

// send sends an event on the stream that was opened last.
func (s *script) send(event, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotNil(s.t, s.open, "a stream is open")
	s.open <- fmt.Sprintf("event: %s\ndata: %s\n\n", event, strings.ReplaceAll(data, "\n", ""))
}

// tell sends the visitor's own place, as a check-in tells it.
func (s *script) tell(data templates.Data) {
	s.mu.Lock()
	s.data = data
	object, err := json.Marshal(s.object())
	s.mu.Unlock()
	require.NoError(s.t, err)
	s.send("place", string(object))
}

// cut ends the stream that was opened last.
func (s *script) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		close(s.open)
		s.open = nil
	}
}

func (s *script) let(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// counts are the check-ins and the streams so far.
func (s *script) counts() (checkIns, streams int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkIns, s.streams
}

func (s *script) until(is func(checkIns, streams int) bool, what string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return is(s.counts()) }, 30*time.Second, 20*time.Millisecond, what)
}

// visit opens the page and waits for its stream.
func (s *script) visit() *browsertest.Tab {
	s.t.Helper()
	tab := browser.Visitor(s.t)
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchPolicy})
	tab.Open(s.url)
	mark(tab)
	s.until(func(_, streams int) bool { return streams == 1 }, "it listens")
	return tab
}

func lineAt(position, queued int) templates.Data {
	return templates.Data{
		RoomName: "shop", QueueingMethod: "line",
		Place: templates.Place{
			TicketNumber: 107, FirstWaitingNumber: 100, LastWaitingNumber: 600,
			Position: position, UsersQueued: queued, WaitTimeKnown: true, WaitTime: 3,
		},
	}
}

func TestThePlaceInAnExactLineMovesWithTheNumbersOfAll(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(7, 412), 20)
	tab := s.visit()
	is := func(text string) { tab.Until(place + ` === '` + text + `'`) }
	is("7th of 412")
	s.tell(lineAt(7, 1412))
	is("7th of 1,412")
	numbers := func(queued, first, last, preferred int) {
		s.send("numbers", fmt.Sprintf(`{"usersQueued": %d, "firstWaitingNumber": %d, "lastWaitingNumber": %d, "usersPreferred": %d,
			"lastUpdated": "2026-11-21T10:30:00.000Z"}`, queued, first, last, preferred))
	}
	t.Log("some have got in, and others have come with a higher priority")
	numbers(410, 103, 601, 1)
	is("about 6 of 410")
	tab.Until(`document.getElementById('ahead').textContent === '5'`)
	t.Log("a place that was told is not taken back")
	numbers(430, 103, 621, 9)
	is("about 6 of 430")
	t.Log("numbers from before the visitor came say nothing")
	numbers(2, 90, 106, 0)
	numbers(431, 103, 622, 9)
	is("about 6 of 431")
	t.Log("nobody is behind the last one")
	numbers(3, 103, 622, 9)
	is("about 3 of 3")
	t.Log("a check-in tells the exact place")
	s.tell(lineAt(2, 3))
	is("2nd of 3")
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	checkIns, streams := s.counts()
	assert.Zero(t, checkIns, "the stream is the check-in")
	assert.Equal(t, 1, streams)
	assert.Empty(t, browsertest.Eval[[]string](tab, `forbidden`), "the policy allows it")
}

// arrived is when the visitor of a script came.
var arrived = time.Date(2026, time.November, 21, 10, 30, 30, 0, time.UTC)

func TestThePlaceInFifoIsBetweenThoseOfTheBuckets(t *testing.T) {
	t.Parallel()
	data := templates.Data{
		RoomName: "shop", QueueingMethod: "fifo", UsersAheadKnown: true, UsersAhead: 1300, UsersQueued: 1500,
	}
	s := newScript(t, data, 20)
	tab := s.visit()
	tab.Until(place + ` === 'about 1,301 of 1,500'`)
	s.tell(data)
	s.send("numbers", `{"usersQueued": 1450, "buckets": [{"key": "2026-11-21T10:29:00Z", "usersAhead": 0},
		{"key": "2026-11-21T10:30:00Z", "usersAhead": 1199, "waitTimeKnown": true, "waitTime": 4},
		{"key": "2026-11-21T10:31:00Z", "usersAhead": 1299, "waitTimeKnown": true, "waitTime": 6}]}`)
	tab.Until(place + ` === 'about 1,250 of 1,450'`)
	tab.Until(`document.getElementById('ahead').textContent === '1,249'`)
	tab.Until(`document.getElementById('wait').textContent.startsWith('about 5')`)
}

func TestAPlaceIsShownWhileItIsKnown(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(7, 412), 20)
	tab := s.visit()
	const shown = `!document.getElementById('place').hidden`
	tab.Until(shown)
	s.tell(templates.Data{RoomName: "shop", QueueingMethod: "random", UsersQueued: 412})
	tab.Until(`!(` + shown + `)`)
	s.tell(lineAt(6, 411))
	tab.Until(shown)
	tab.Until(place + ` === '6th of 411'`)
}

func TestWhoIsAdmittedMeanwhileGetsIn(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(1, 3), 600)
	tab := s.visit()
	s.let(func() { s.admitted = true })
	s.send("admitted", `{}`)
	tab.Until(inside)
	checkIns, _ := s.counts()
	assert.Zero(t, checkIns)
}

func TestCheckInsGoOnWithoutAStream(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(7, 412), 1)
	tab := s.visit()
	t.Log("a stream that says nothing may be dead")
	s.until(func(checkIns, _ int) bool { return checkIns >= 2 }, "it asks all the same")
	t.Log("one that ends is opened again")
	s.cut()
	s.until(func(_, streams int) bool { return streams == 2 }, "it listens again")
	t.Log("until it is told not to")
	s.let(func() { s.deaf = true })
	s.cut()
	from, _ := s.counts()
	s.until(func(checkIns, _ int) bool { return checkIns >= from+4 }, "it asks")
	s.let(func() { s.data = lineAt(5, 400) })
	tab.Until(place + ` === '5th of 400'`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
}

func TestWhoComesBackToThePageIsToldAgain(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(7, 412), 600)
	tab := s.visit()
	tab.Open(s.url + "/elsewhere")
	s.let(func() { s.data = lineAt(5, 400) })
	tab.Do(chromedp.Evaluate[chromedp.Void](`setTimeout(() => history.back())`))
	tab.Until(place + ` === '5th of 400'`)
	s.until(func(_, streams int) bool { return streams == 2 }, "it listens again")
}

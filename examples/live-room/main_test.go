package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
)

const garden = "/room/garden"

func start(t *testing.T) stage.Addresses {
	t.Helper()
	at := stagetest.Addresses(t)
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error { return run(ctx, out, at, "fairdoor.yaml") })
	return at
}

// sit has a visitor come into the garden and open the chat.
func sit(t *testing.T, at stage.Addresses, visitor *http.Client, name string) *websocket.Conn {
	t.Helper()
	require.Contains(t, stagetest.Text(t, visitor, http.MethodGet, "http://"+at.Gate+garden), "Coming in")
	conn, answer, err := websocket.Dial(t.Context(), "ws://"+at.Gate+garden+"/talk?name="+name, &websocket.DialOptions{HTTPClient: visitor})
	require.NoError(t, err)
	assert.Empty(t, answer.Header.Values("Fairdoor-Visitor"), "which is for the gate")
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// hear waits until somebody in a chat has been told something.
func hear(t *testing.T, conn *websocket.Conn, is func(message) bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	for {
		var m message
		require.NoError(t, wsjson.Read(ctx, conn, &m))
		if is(m) {
			return
		}
	}
}

// position is where a visitor is in the garden's line; 0 for who is in.
func position(t *testing.T, at stage.Addresses, visitor *http.Client) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at.Gate+garden, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json")
	answer, err := visitor.Do(req)
	require.NoError(t, err)
	defer answer.Body.Close()
	var told struct {
		Room struct{ Position int } `json:"cfWaitingRoom"`
	}
	if json.NewDecoder(answer.Body).Decode(&told) != nil {
		return 0
	}
	return told.Room.Position
}

func TestThreeTalkAndOthersWaitInLine(t *testing.T) {
	at := start(t)
	var seats []*websocket.Conn
	for _, name := range []string{"Ada", "Bob", "Cyd"} {
		seats = append(seats, sit(t, at, stagetest.Visitor(t), name))
	}
	hear(t, seats[0], func(m message) bool { return slices.Equal(m.People, []string{"Ada", "Bob", "Cyd"}) })
	require.NoError(t, wsjson.Write(t.Context(), seats[0], message{Name: "Ada", Text: "hello"}))
	hear(t, seats[2], func(m message) bool { return m.Name == "Ada" && m.Text == "hello" })

	fourth, fifth := stagetest.Visitor(t), stagetest.Visitor(t)
	require.Equal(t, 1, position(t, at, fourth))
	require.Equal(t, 2, position(t, at, fifth))
	sit2 := stagetest.Text(t, stagetest.Visitor(t), http.MethodGet, "http://"+at.Gate+"/room/kitchen")
	assert.Contains(t, sit2, "Coming in", "another room has seats of its own")

	closed := time.Now()
	require.NoError(t, seats[1].CloseNow())
	require.Eventually(t, func() bool { return position(t, at, fourth) == 0 }, time.Minute, 200*time.Millisecond)
	assert.GreaterOrEqual(t, time.Since(closed), 4*time.Second, "the seat is kept for a while")
	assert.Equal(t, 1, position(t, at, fifth), "and goes to the head of the line alone")
	hear(t, seats[0], func(m message) bool { return slices.Equal(m.People, []string{"Ada", "Cyd"}) })
}

func TestAVisitorSeesTheirNumberFallAndGetsIn(t *testing.T) {
	at := start(t)
	var seated []*http.Client
	for _, name := range []string{"Ada", "Bob", "Cyd"} {
		visitor := stagetest.Visitor(t)
		sit(t, at, visitor, name)
		seated = append(seated, visitor)
	}
	ahead := stagetest.Visitor(t)
	require.Equal(t, 1, position(t, at, ahead))

	browser, err := browsertest.Start(nil)
	require.NoError(t, err)
	defer browser.Stop()
	tab := browser.Visitor(t)
	tab.Open("http://" + at.Gate + garden)
	tab.Until(`document.body.innerText.includes('2nd of 2')`)
	tab.Screenshot("live-room-waiting")
	leave := func(visitor *http.Client) {
		require.Contains(t, stagetest.Text(t, visitor, http.MethodPost, "http://"+at.Gate+garden+"/leave"), "three people")
	}
	leave(seated[0])
	require.Eventually(t, func() bool { return position(t, at, ahead) == 0 }, time.Minute, 200*time.Millisecond)
	sit(t, at, ahead, "Dan")
	tab.Until(`/(1st|about 1) of 1/.test(document.body.innerText)`)
	leave(seated[1])
	tab.Until(`document.body.innerText.includes('3 of 3 seats') && document.body.innerText.includes('Cyd, Dan, ' + sessionStorage.name)`)
	tab.Screenshot("live-room-in")
	assert.True(t, strings.HasSuffix(browsertest.Eval[string](tab, `location.pathname`), garden))
}

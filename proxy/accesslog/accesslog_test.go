package accesslog_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/accesslog"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

// written is where a log is written.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// Sync does nothing.
func (*written) Sync() error { return nil }

// lines returns what was written since the last call, once there are so many lines: they are
// written when those who asked have their answers.
func (w *written) lines(f *gatetest.Fixture, n int) (list []string) {
	f.T.Helper()
	f.Soon(func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for s := bufio.NewScanner(&w.text); s.Scan(); {
			list = append(list, s.Text())
		}
		return len(list) >= n
	})
	require.Len(f.T, list, n)
	return list
}

func (w *written) contains(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.text.Bytes(), []byte(text))
}

// count is how many lines there are.
func (w *written) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Count(w.text.Bytes(), []byte("\n"))
}

// object is the one line as JSON.
func (w *written) object(f *gatetest.Fixture) (object map[string]any) {
	f.T.Helper()
	line := w.lines(f, 1)[0]
	require.NoError(f.T, json.Unmarshal([]byte(line), &object), line)
	return object
}

func start(t *testing.T, c accesslog.Config, more ...func(*proxy.Config, *proxy.Options)) (*gatetest.Fixture, *written) {
	t.Helper()
	w := new(written)
	c.To = w
	return gatetest.Start(t, append(more, gatetest.TrustingLoopback, func(_ *proxy.Config, o *proxy.Options) { o.AccessLog = c })...), w
}

func TestALineSaysWhoAskedAndWhatWasDecided(t *testing.T) {
	f, log := start(t, accesslog.Config{Sample: 1})
	in := f.Visitor()
	require.True(t, in.Get("/").In())
	log.lines(f, 1)
	answer := in.Get("/tickets?code=secret", gatetest.At("192.0.2.7"), gatetest.With("User-Agent", `A "browser"`), gatetest.With("X-Request-Id", "the-proxy's"))
	require.True(t, answer.In())
	line := log.object(f)
	assert.NotEmpty(t, line["time"])
	assert.NotEmpty(t, line["supportCode"])
	assert.Contains(t, line, "duration")
	for _, name := range []string{"time", "supportCode", "duration", "host", "proto"} {
		delete(line, name)
	}
	assert.Equal(t, map[string]any{
		"client_ip": "192.0.2.7", "method": "GET", "uri": "/tickets", "status": 200., "bytes": 2., "user_agent": `A "browser"`,
		"room": "shop", "decision": "accepted", "requestId": "the-proxy's",
	}, line)
}

func TestWhatBecameOfARequestHasTheWordsOfTheMetrics(t *testing.T) {
	f, log := start(t, accesslog.Config{Sample: 1})
	require.True(t, f.Visitor().Get("/").In())
	log.lines(f, 1)
	waits := f.Visitor()
	for _, c := range []struct {
		of, room, decision string
		ask                func() gatetest.Answer
		status             float64
	}{
		{"a newcomer", "shop", "queued", func() gatetest.Answer { return waits.Get("/") }, 503},
		{"a form of a program", "shop", "busy", func() gatetest.Answer { return f.Visitor().Send(http.MethodPost, "/", nil, gatetest.AsJSON) }, 429},
		{"a part of a page", "shop", "withheld", func() gatetest.Answer { return f.Visitor().Get("/logo.png", gatetest.With("Sec-Fetch-Dest", "image")) }, 503},
		{"a check-in by the API", "shop", "queued", func() gatetest.Answer { return waits.Get("/.fairdoor/session?room=shop&renew=1") }, 200},
		{"a path of the gate's", "", "", func() gatetest.Answer { return waits.Get("/.fairdoor/nothing/secret") }, 404},
	} {
		answer := c.ask()
		line := log.object(f)
		assert.Equal(t, c.room, line["room"], c.of)
		assert.Equal(t, c.decision, line["decision"], c.of)
		assert.InDelta(t, answer.Status, line["status"], 0, c.of)
		assert.NotContains(t, line["uri"], "secret")
		if c.decision == "queued" {
			assert.Equal(t, waits.Get("/", gatetest.AsJSON).Told("supportCode"), line["supportCode"], c.of)
			log.lines(f, 1)
		}
	}
	f.Patch(`{"suspended": true}`)
	require.True(t, f.Visitor().Get("/").In())
	assert.Equal(t, "exempt", log.object(f)["decision"])
}

func TestTheCombinedFormatIsOneLineWhateverIsSent(t *testing.T) {
	f, log := start(t, accesslog.Config{Sample: 1, Combined: true})
	f.Visitor().Get("/a%22b?code=secret", gatetest.At("192.0.2.7"), gatetest.With("User-Agent", `A "\b`), gatetest.With("Referer", "https://shop.test/from?code=secret"))
	assert.Regexp(t, `^192\.0\.2\.7 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "GET /a%22b HTTP/1\.1" 200 2 "https://shop\.test/from" "A \\x22\\x5Cb"$`, log.lines(f, 1)[0])
}

func TestASampleIsAPartOfTheRequests(t *testing.T) {
	f, log := start(t, accesslog.Config{Sample: .5})
	v := f.Visitor()
	for range 400 {
		require.True(t, v.Get("/").In())
	}
	f.Soon(func() bool { // the lines are in the order of the requests
		v.Get("/last")
		return log.contains("/last")
	})
	assert.InDelta(t, 200, log.count(), 60)
}

// stuck is a pipe that nobody reads.
type stuck struct{ end chan struct{} }

// Write implements [io.Writer].
func (s stuck) Write(p []byte) (int, error) {
	<-s.end
	return len(p), nil
}

// Sync does nothing.
func (stuck) Sync() error { return nil }

func TestALogThatTakesNothingStopsNobody(t *testing.T) {
	s := stuck{make(chan struct{})}
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.AccessLog = accesslog.Config{To: s} })
	defer close(s.end)
	v := f.Visitor()
	for range 20 {
		require.True(t, v.Get("/").In())
	}
}

// full is a disk that is full.
type full struct{}

// Write implements [io.Writer].
func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Sync does nothing.
func (full) Sync() error { return nil }

func TestLinesThatAreLeftOutAreToldOnceAMinute(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) {
		o.AccessLog, o.Log = accesslog.Config{To: full{}}, zap.New(core)
	})
	leftOut := func() int { return logs.FilterMessageSnippet("lines of the access log").Len() }
	v := f.Visitor()
	for range 20 {
		require.True(t, v.Get("/").In())
	}
	f.Soon(func() bool { return leftOut() == 1 })
	f.Pass(time.Minute)
	v.Get("/")
	f.Soon(func() bool { return leftOut() == 2 })
}

func TestOwnPathsAreCutWhereverTheyStand(t *testing.T) {
	f, log := start(t, accesslog.Config{Combined: true})
	f.Visitor().Get("/.fairdoor/pass%2Fsecret", gatetest.With("Referer", "https://shop.test/.fairdoor/pass/secret"))
	line := log.lines(f, 1)[0]
	assert.Contains(t, line, "/.fairdoor/pass")
	assert.NotContains(t, line, "secret")
}

func TestWebsocketsPassAndAreWrittenAtTheirEnd(t *testing.T) {
	f, log := start(t, accesslog.Config{Sample: 1}, gatetest.InRealTime)
	f.Site.Will(gatetest.Echo)
	conn, _, err := websocket.Dial(t.Context(), f.Public.URL+"/chat", nil) //nolint:bodyclose // a websocket has none
	require.NoError(t, err)
	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte("hello")))
	_, text, err := conn.Read(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "hello", string(text))
	assert.Zero(t, log.count())
	require.NoError(t, conn.CloseNow())
	line := log.object(f)
	assert.InDelta(t, http.StatusSwitchingProtocols, line["status"], 0)
	assert.Equal(t, "/chat", line["uri"])
}

package accesslog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/accesslog"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

var update = flag.Bool("update", false, "write the golden files")

// settings have sessions of five minutes, and leases of one.
func settings() queue.Settings {
	s := queue.Settings{}.WithDefaults()
	s.ConfirmWithin = time.Minute
	return s
}

// read reads logs.
func read(t *testing.T, logs ...string) *accesslog.Log {
	t.Helper()
	r, err := accesslog.NewReader(settings())
	require.NoError(t, err)
	for i, log := range logs {
		require.NoError(t, r.Read(fmt.Sprintf("log%d", i+1), strings.NewReader(log)))
	}
	return r.Log()
}

// line is a line in the combined format, some seconds after noon.
func line(seconds int, address, agent, target string) string {
	at := time.Date(2025, 11, 28, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
	return fmt.Sprintf("%s - - [%s] \"GET %s HTTP/1.1\" 200 1 \"-\" %q\n", address, at.Format("02/Jan/2006:15:04:05 -0700"), target, agent)
}

// examples are the logs in testdata.
func examples(t testing.TB) []string {
	t.Helper()
	combined, err := filepath.Glob("testdata/*.log")
	require.NoError(t, err)
	objects, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, append(combined, objects...), 6)
	return append(combined, objects...)
}

func TestLinesOfEachFormatAreRead(t *testing.T) {
	t.Parallel()
	for _, path := range examples(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var out strings.Builder
		require.NoError(t, accesslog.Scan(bytes.NewReader(text), func(number int, l accesslog.Line, err error) {
			if err != nil {
				fmt.Fprintf(&out, "%d: %v\n", number, err)
				return
			}
			fmt.Fprintf(&out, "%d: %s from %s (%s): %q %q\n", number, l.At.UTC().Format(time.RFC3339Nano), l.Address, l.UserAgent, l.Method, l.Target)
		}))
		golden := path + ".golden"
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), out.String(), path)
	}
}

func TestBrokenLinesAreSkippedWithAReason(t *testing.T) {
	t.Parallel()
	l := read(t, "\ufeff"+line(0, "192.0.2.1", "A", "/")+"\r\n\nnonsense\n"+
		`192.0.2.1 - - [28/Nov/2025:25:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "A"`+"\n"+
		`192.0.2.1 - - [28/Nov/2025:12:00:00 +0000] GET /`+"\n"+
		`{"ts": 1, "request": `+"\n"+
		`{"ts": 1764331200.1, "request": {"method": "GET", "uri": "/"}}`+"\n"+
		`{"request": {"client_ip": "192.0.2.1", "method": "GET", "uri": "/"}}`+"\n"+
		strings.Repeat("x", 100_000)+"\n"+
		line(1, "192.0.2.2", "A", "/")[:50])
	assert.Equal(t, 9, l.Lines)
	assert.Equal(t, 8, l.Skipped)
	assert.Equal(t, 1, l.Visits)
	require.Len(t, l.Reasons, 5)
	for i, reason := range []string{
		"log1, line 4: it has no time in brackets", `log1, line 5: its time is "28/Nov/2025:25:00:00 +0000"`, "log1, line 6: it has no request in quotes",
		"log1, line 7: it is no JSON object: ", "log1, line 8: it has no address",
	} {
		assert.Contains(t, l.Reasons[i], reason)
	}
	var out bytes.Buffer
	require.NoError(t, l.WriteSummary(&out, settings()))
	assert.Regexp(t, `skipped, as they cannot be read +8\n    log1, line 4: it has no time in brackets\n`, out.String())
	assert.Contains(t, out.String(), "    …\n")
}

func TestAnEmptyLogHasNoVisitors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "\r\n", line(0, "192.0.2.1", "Googlebot/2.1", "/")} {
		l := read(t, text)
		assert.Zero(t, l.Visits)
		assert.Empty(t, l.Stays)
		require.NoError(t, l.WriteSummary(io.Discard, settings()))
	}
}

func TestCompressedLogsAreRead(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	for i := range 2 { // logs that were put together after they were compressed
		w := gzip.NewWriter(&packed)
		_, err := io.WriteString(w, line(i, fmt.Sprintf("192.0.2.%d", i), "A", "/"))
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	whole := packed.String()
	assert.Equal(t, 2, read(t, whole).Visits)
	r, err := accesslog.NewReader(settings())
	require.NoError(t, err)
	require.ErrorContains(t, r.Read("cut.gz", strings.NewReader(whole[:len(whole)-4])), "cut.gz: reading line 3: unexpected EOF")
	require.ErrorContains(t, r.Read("no.gz", strings.NewReader("\x1f\x8bno")), "no.gz: uncompressing: ")
	failing := errors.New("the disk is broken")
	require.ErrorIs(t, r.Read("disk", iotest.ErrReader(failing)), failing)
}

func TestWhoIsAVisitor(t *testing.T) {
	t.Parallel()
	l := read(t, strings.Join([]string{
		line(0, "192.0.2.1", "A", "/"), line(1, "192.0.2.1", "B", "/"), line(2, "192.0.2.2", "A", "/"), line(3, "2001:db8::1", "A", "/"), line(4, "2001:DB8:0::1", "A", "/"),
		line(0, "192.0.2.3", "A", "/app.js?v=1"), line(0, "192.0.2.3", "A", "/a/LOGO.PNG"),
		line(0, "192.0.2.3", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "/"),
		line(0, "192.0.2.3", "A", "/robots.txt"), line(0, "192.0.2.3", "A", "/healthz"), line(0, "192.0.2.3", "A", "/.fairdoor/leave"),
		strings.Replace(line(0, "192.0.2.3", "A", "/"), "GET", "HEAD", 1), line(5, "192.0.2.4", "-", "/cafe.html"),
	}, ""))
	assert.Equal(t, 13, l.Lines)
	assert.Equal(t, 5, l.Visitors)
	assert.Equal(t, 5, l.Visits)
	assert.Equal(t, 1, l.Unnamed)
	assert.Equal(t, [4]int{2, 1, 1, 3}, [4]int{l.LeftOut.Parts, l.LeftOut.Crawlers, l.LeftOut.Probes, l.LeftOut.Exempt})
}

func TestAVisitEndsWhenASessionWould(t *testing.T) {
	t.Parallel()
	l := read(t, line(0, "192.0.2.1", "A", "/")+line(290, "192.0.2.1", "A", "/")+line(600, "192.0.2.1", "A", "/")+line(899, "192.0.2.1", "A", "/"))
	assert.Equal(t, 1, l.Visitors)
	require.Equal(t, 2, l.Visits)
	assert.Equal(t, 290*time.Second, l.Stays[0].For)
	assert.Equal(t, 299*time.Second, l.Stays[1].For)
	assert.InDelta(t, 600, (l.Stays[1].At - l.Stays[0].At).Seconds(), 1e-9)
	assert.Less(t, l.Stays[0].At, time.Second, "somewhere within the second")
}

func TestTimesInWholeSecondsAreNoMoreExactThanThat(t *testing.T) {
	t.Parallel()
	l := read(t, line(0, "192.0.2.1", "A", "/")+line(1, "192.0.2.1", "A", "/")+line(301, "192.0.2.2", "A", "/")+line(301, "192.0.2.3", "A", "/"))
	require.Len(t, l.Stays, 3)
	assert.NotEqual(t, l.Stays[1].At, l.Stays[2].At, "somewhere within the second")
	assert.Equal(t, l.Stays[1].At.Truncate(time.Second), l.Stays[2].At.Truncate(time.Second))
	assert.Equal(t, 3, l.Active.Count, "the first session may end after that of the others has begun")

	l = read(t, `{"ts": 1764331200.25, "request": {"client_ip": "192.0.2.1", "method": "GET", "uri": "/"}}`)
	assert.Equal(t, []simulate.Stay{{At: 250 * time.Millisecond}}, l.Stays)
}

func TestTimesOfDayCountByTheirZones(t *testing.T) {
	t.Parallel()
	// In Berlin, clocks went back from 03:00 to 02:00 that night.
	l := read(t, `192.0.2.1 - - [26/Oct/2025:02:59:00 +0200] "GET / HTTP/1.1" 200 1 "-" "A"
192.0.2.1 - - [26/Oct/2025:02:01:00 +0100] "GET / HTTP/1.1" 200 1 "-" "A"
192.0.2.2 - - [26/Oct/2025:01:02:00 +0000] "GET / HTTP/1.1" 200 1 "-" "A"
192.0.2.3 - - [26/Oct/2025:06:32:00 +0530] "GET / HTTP/1.1" 200 1 "-" "A"
`)
	assert.Equal(t, 3, l.Visits)
	assert.Equal(t, 2*time.Minute, l.Stays[0].For)
	assert.Equal(t, 3*time.Minute, l.Until.Sub(l.From))
	assert.Equal(t, 2, l.PerMinute.Count, "at 01:02, wherever that is")
	assert.Equal(t, 3, l.Active.Count)
}

// Whatever order lines have, the visits are those of the lines in order.
func TestTheOrderOfLinesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return line(rapid.IntRange(0, 3000).Draw(t, "at"), fmt.Sprintf("192.0.2.%d", rapid.IntRange(1, 3).Draw(t, "address")), "A", "/")
		}), 1, 60).Draw(rt, "lines")
		shuffled := rapid.Permutation(lines).Draw(rt, "shuffled")
		half := len(shuffled) / 2
		want, got := read(t, strings.Join(lines, "")), read(t, strings.Join(shuffled[:half], ""), strings.Join(shuffled[half:], ""))
		assert.Equal(rt, want.Stays, got.Stays)
		assert.Equal(rt, want.Active, got.Active)
		assert.Equal(rt, want.PerMinute, got.PerMinute)
		assert.Equal(rt, want.Visitors, got.Visitors)
	})
}

// With the limits that a log suggests, nobody waits; with fewer, somebody does.
func TestNobodyWaitsWithTheLimitsThatTheLogSuggests(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var log strings.Builder
	for visitor := range 150 {
		at, pages := rng.IntN(900), rng.IntN(4)
		for range pages + 1 {
			log.WriteString(line(at, fmt.Sprintf("10.0.%d.%d", visitor/100, visitor%100), "A", "/"))
			at += 1 + rng.IntN(200)
		}
	}
	l := read(t, log.String())
	simulated := func(active, perMinute int) *simulate.Result {
		c := simulate.Article().Replay(l.Stays)
		c.Room = settings()
		c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = active, perMinute
		r, err := simulate.Run(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, l.Visits, r.People.Admitted)
		return r
	}
	r := simulated(l.Active.Count, l.PerMinute.Count)
	assert.Zero(t, r.Wait.Max)
	assert.InDelta(t, l.Active.Count, r.Limits.MostActive, 3)
	assert.Equal(t, l.PerMinute.Count, r.Limits.MostPerMinute)
	assert.Positive(t, simulated(r.Limits.MostActive-1, l.PerMinute.Count).Wait.Max)
	assert.Positive(t, simulated(l.Active.Count, l.PerMinute.Count-1).Wait.Max)
}

// endless is a log that is made as it is read.
type endless struct {
	left, number int
	buffer       []byte
}

// Read implements [io.Reader].
func (e *endless) Read(p []byte) (int, error) {
	for len(e.buffer) < len(p) && e.left > 0 {
		e.number++
		at := len(e.buffer)
		e.buffer = append(e.buffer, line(e.number/100, fmt.Sprintf("10.0.0.%d", e.number%250), "Mozilla/5.0 (X11; Linux x86_64) "+strings.Repeat("x", 100), "/shop")...)
		e.left -= len(e.buffer) - at
	}
	n := copy(p, e.buffer)
	if e.buffer = e.buffer[:copy(e.buffer, e.buffer[n:])]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestALongLogTakesLittleMemory(t *testing.T) {
	const size = 8 << 20
	r, err := accesslog.NewReader(settings())
	require.NoError(t, err)
	require.NoError(t, r.Read("short", &endless{left: size / 64}))
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	require.NoError(t, r.Read("long", &endless{left: size}))
	after := heap()
	assert.Less(t, int64(after)-int64(before), int64(1<<20))
	l := r.Log()
	assert.Greater(t, l.Lines, 30_000)
	assert.Equal(t, 250, l.Visits)
}

func FuzzParse(f *testing.F) {
	for _, path := range examples(f) {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		for l := range bytes.Lines(text) {
			f.Add(l)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := accesslog.Parse(text)
		if err != nil {
			assert.Zero(t, l)
			assert.Less(t, len(err.Error()), 500)
			return
		}
		assert.NotEmpty(t, l.Address)
		assert.Positive(t, l.At.UnixMilli())
		r, err := accesslog.NewReader(settings())
		require.NoError(t, err)
		require.NoError(t, r.Read("fuzzed", bytes.NewReader(text)))
		r.Log()
	})
}

package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	main "github.com/fairdoor-gate/fairdoor/cmd/fairdoor"
)

// runningDemo is a demo at work.
type runningDemo struct {
	gate, admin string
	log         <-chan string // what the site says of its visitors
}

var (
	visit     = regexp.MustCompile(`(?:Visit|Sign up) +http://localhost(:\d+)/`)
	dashboard = regexp.MustCompile(`The dashboard +http://localhost(:\d+)/`)
	placed    = regexp.MustCompile(`^\d\d:\d\d:\d\d .* (\d+) in$`)
)

// startDemo runs `fairdoor demo` until the test ends.
func startDemo(t *testing.T, args ...string) runningDemo {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	var stderr strings.Builder
	var ended sync.WaitGroup
	args = append([]string{"demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
	ended.Go(func() {
		assert.Equal(t, 0, main.Program(ctx, args, writer, &stderr), "it ends well")
		_ = writer.Close()
	})
	log := make(chan string, 1000)
	said := make(chan [2]string, 1)
	ended.Go(func() {
		defer close(log)
		var at [2]string
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			if m := visit.FindStringSubmatch(lines.Text()); m != nil {
				at[0] = "http://127.0.0.1" + m[1]
			}
			if m := dashboard.FindStringSubmatch(lines.Text()); m != nil {
				at[1] = "http://127.0.0.1" + m[1]
			}
			if strings.Contains(lines.Text(), "Ctrl-C") {
				said <- at
			}
			if placed.MatchString(lines.Text()) {
				log <- lines.Text()
			}
		}
	})
	t.Cleanup(func() {
		stop()
		ended.Wait()
		assert.Empty(t, stderr.String())
	})
	select {
	case at := <-said:
		require.NotEmpty(t, at[0])
		require.NotEmpty(t, at[1])
		return runningDemo{gate: at[0], admin: at[1], log: log}
	case <-time.After(30 * time.Second):
		t.Fatal("the demo does not say what to open")
		return runningDemo{}
	}
}

// person visits the demo with a browser of their own.
type person struct {
	t    *testing.T
	http http.Client
	gate string
}

func (d runningDemo) person(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &person{t: t, http: http.Client{Jar: jar, Timeout: 30 * time.Second}, gate: d.gate}
}

// ask returns the answer's text, and how long the room says to wait; 0 if the
// visitor is in.
func (p *person) ask(method, path string) (text string, wait time.Duration) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.gate+path, nil)
	require.NoError(p.t, err)
	req.Header.Set("Accept", "application/json")
	answer, err := p.http.Do(req)
	require.NoError(p.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	var told struct {
		Room struct {
			RefreshIntervalSeconds int `json:"refreshIntervalSeconds"`
		} `json:"cfWaitingRoom"`
	}
	if answer.Header.Get("Content-Type") == "application/json" {
		require.NoError(p.t, json.Unmarshal(body, &told))
	}
	return string(body), time.Duration(told.Room.RefreshIntervalSeconds) * time.Second
}

func TestTheDemoLetsThreeInAndTheFourthWhenOneLeaves(t *testing.T) {
	d := startDemo(t)
	people := []*person{d.person(t), d.person(t), d.person(t)}
	for i, p := range people {
		text, wait := p.ask(http.MethodGet, "/")
		require.Zero(t, wait)
		assert.Contains(t, text, "You are in")
		assert.Contains(t, <-d.log, fmt.Sprintf("came in      %d in", i+1))
	}
	fourth := d.person(t)
	_, wait := fourth.ask(http.MethodGet, "/")
	require.Contains(t, []time.Duration{2 * time.Second, 3 * time.Second}, wait, "the fourth waits")

	told := time.NewTimer(wait)
	text, _ := people[1].ask(http.MethodPost, "/leave")
	assert.Contains(t, text, "Goodbye")
	assert.Contains(t, <-d.log, "left         2 in")
	_, back := people[1].ask(http.MethodGet, "/")
	assert.NotZero(t, back, "whoever left is behind those who wait")

	<-told.C
	text, wait = fourth.ask(http.MethodGet, "/")
	require.Zero(t, wait, "their next check-in is their turn")
	assert.Contains(t, text, "You are in")
	assert.Contains(t, <-d.log, "came in      3 in")
}

func TestTheDemosCrowdQueues(t *testing.T) {
	d := startDemo(t, "--crowd", "8", "--queueing-method", "random")
	for last := ""; !strings.HasSuffix(last, " 3 in"); {
		select {
		case last = <-d.log:
		case <-time.After(30 * time.Second):
			t.Fatal("the crowd does not come")
		}
	}
	person := d.person(t)
	_, wait := person.ask(http.MethodGet, "/")
	assert.NotZero(t, wait, "one person sees the queue")
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		var status struct {
			Status string `json:"status"`
			Queued int    `json:"estimated_queued_users"`
			Active int    `json:"activeUsers"`
		}
		answer, err := http.Get(d.admin + "/api/v1/rooms/demo/status")
		if !assert.NoError(t, err) {
			return
		}
		defer answer.Body.Close()
		assert.NoError(t, json.NewDecoder(answer.Body).Decode(&status))
		assert.Equal(t, "queueing", status.Status)
		assert.GreaterOrEqual(t, status.Queued, 5)
		assert.LessOrEqual(t, status.Active, 3)
	}, 30*time.Second, 50*time.Millisecond)
}

func TestTheDemoPlansASaleThatItsDashboardCancels(t *testing.T) {
	d := startDemo(t)
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.admin+"/rooms/tickets/events", nil)
	require.NoError(t, err)
	q.Header.Set("Accept", "text/html")
	answer, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.Regexp(t, `(?s)id="event-sale".*<button name="do" value="delete">Cancel…`, string(page))
}

func TestTheDemoSaysWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	tests := map[string]struct {
		args []string
		code int
		says []string
	}{
		"a busy port": {
			[]string{"--listen", taken.Addr().String(), "--admin", "127.0.0.1:0"}, 1,
			[]string{"--listen", "address already in use", "another demo"},
		},
		"a busy port of the admin API": {
			[]string{"--listen", "127.0.0.1:0", "--admin", taken.Addr().String()}, 1,
			[]string{"--admin", "address already in use", "another demo"},
		},
		"an address that is none":         {[]string{"--listen", "nowhere"}, 2, []string{"--listen"}},
		"an admin API for everyone":       {[]string{"--admin", "0.0.0.0:9090"}, 2, []string{"--admin", "token"}},
		"a method that does not exist":    {[]string{"--queueing-method", "rand"}, 2, []string{"--queueing-method", "random"}},
		"a crowd of less than nobody":     {[]string{"--crowd", "-1"}, 2, []string{"--crowd", "0 to 10000"}},
		"a crowd that is no number":       {[]string{"--crowd", "many"}, 2, []string{"--crowd"}},
		"a flag that does not exist":      {[]string{"--crowds", "3"}, 2, []string{"did you mean", "--crowd"}},
		"an argument where none is taken": {[]string{"please"}, 2, []string{"takes no arguments"}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := main.Program(t.Context(), append([]string{"demo"}, test.args...), &stdout, &stderr)
			assert.Equal(t, test.code, code)
			assert.Empty(t, stdout.String())
			for _, words := range test.says {
				assert.Contains(t, stderr.String(), words)
			}
		})
	}
}

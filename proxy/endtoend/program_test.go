// Package endtoend_test runs the program as it is built, in front of an origin
// of its own, and judges it by what that origin saw.
package endtoend_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// patience is what is waited for anything that should happen.
const patience = 30 * time.Second

// program is the path of the program, built once for all tests.
var program string

var raced = flag.Bool("raced", false, "build the program with the race detector; it then takes four times as long")

// bare is the environment of a program that is told nothing by it. At its end the race detector
// does not wait for further races.
var bare = []string{"HOME=/nonexistent", "GORACE=atexit_sleep_ms=0"}

// atATime is how many tests run at a time unless -parallel says so. They mostly wait, and need few
// processors.
const atATime = "6"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atATime); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fairdoor-endtoend-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "fairdoor")
	build := exec.Command("go", "build", fmt.Sprintf("-race=%t", *raced), "-o", program, "github.com/fairdoor-gate/fairdoor/cmd/fairdoor")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// output is what a process writes; it may be read while it writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// gate is the program while it serves.
type gate struct {
	t          *testing.T
	args, env  []string
	program    string // its path; "" for the one that is built for all tests
	files      int    // that it may have open; 0 for as many as the test
	url, admin string
	cmd        *exec.Cmd
	log        *output
	ended      chan struct{} // closed when the process has ended
}

// serve starts a gate with a state directory and addresses of its own, and waits
// until it is ready. The environment has nothing but env.
func serve(t *testing.T, env []string, args ...string) *gate {
	t.Helper()
	g := newGate(t, env, args...)
	g.start()
	return g
}

func newGate(t *testing.T, env []string, args ...string) *gate {
	t.Helper()
	visitors, operators := porttest.Address(t), porttest.Address(t)
	g := &gate{t: t, env: env, url: "http://" + visitors, admin: "http://" + operators}
	g.args = append([]string{"serve", "--listen", visitors, "--admin", operators, "--state-dir", t.TempDir()}, args...)
	t.Cleanup(func() {
		g.kill()
		assert.NotContains(t, g.log.String(), "DATA RACE")
		if t.Failed() {
			g.keepLog()
		}
	})
	return g
}

// keepLog shows the end of the gate's log, and leaves all of it among the artifacts,
// if there is a place for them.
func (g *gate) keepLog() {
	g.t.Helper()
	log := g.log.String() // of one that has not been started there is none
	g.t.Logf("the end of the gate's log:\n%s", log[max(0, len(log)-3000):])
	if dir := os.Getenv("ARTIFACTS_DIR"); dir != "" {
		file := filepath.Join(dir, strings.ReplaceAll(g.t.Name()+"-"+strings.TrimPrefix(g.url, "http://"), "/", "-")+".log")
		assert.NoError(g.t, os.WriteFile(file, []byte(log), 0o600))
	}
}

// start starts the process, again if it has ended, and waits until it is ready.
func (g *gate) start() {
	g.t.Helper()
	g.launch()
	g.await()
}

func (g *gate) launch() {
	g.t.Helper()
	if g.files > 0 {
		g.launchBy(exec.Command("/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, g.files)))
		return
	}
	g.launchBy(exec.Command("/usr/bin/env"))
}

// launchBy has a command start the program, which it is given with its arguments.
func (g *gate) launchBy(cmd *exec.Cmd) {
	g.t.Helper()
	if g.log == nil {
		g.log = &output{}
	}
	cmd.Args = append(append(cmd.Args, cmp.Or(g.program, program)), g.args...)
	g.cmd, g.ended = cmd, make(chan struct{})
	g.cmd.Env, g.cmd.Stderr, g.cmd.Stdout = slices.Concat(bare, g.env), g.log, g.log
	require.NoError(g.t, g.cmd.Start())
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(g.cmd, g.ended)
}

func (g *gate) await() {
	g.t.Helper()
	g.until("the gate is ready", func() bool {
		select {
		case <-g.ended:
			require.FailNow(g.t, "the gate has ended", g.log)
		default:
		}
		return g.ready() == http.StatusOK
	})
}

// ready is the status of /readyz, 0 if nobody answers.
func (g *gate) ready() int {
	resp, err := http.Get(g.admin + "/readyz")
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// until waits for a condition.
func (g *gate) until(what string, holds func() bool) {
	g.t.Helper()
	require.Eventually(g.t, holds, patience, 20*time.Millisecond, what)
}

func (g *gate) signal(s os.Signal) {
	g.t.Helper()
	require.NoError(g.t, g.cmd.Process.Signal(s))
}

// kill ends the process as a crash does, and waits for its end.
func (g *gate) kill() {
	if g.cmd != nil {
		_ = g.cmd.Process.Kill()
		<-g.ended
	}
}

// exit waits for the end of the process and returns its exit code.
func (g *gate) exit() int {
	g.t.Helper()
	select {
	case <-g.ended:
	case <-time.After(patience):
		require.FailNow(g.t, "the gate does not end", g.log)
	}
	return g.cmd.ProcessState.ExitCode()
}

// room is what the admin API tells of a room.
func (g *gate) room(name string) (told map[string]any) {
	g.t.Helper()
	resp, err := http.Get(g.admin + "/api/v1/rooms/" + name)
	require.NoError(g.t, err)
	defer resp.Body.Close()
	require.NoError(g.t, json.NewDecoder(resp.Body).Decode(&told))
	return told
}

// metrics are what the gate tells Prometheus.
func (g *gate) metrics() string {
	g.t.Helper()
	resp, err := http.Get(g.admin + "/metrics")
	require.NoError(g.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(g.t, err)
	return string(text)
}

// run runs a command of the program to its end.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, err bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = bare, &out, &err
	_ = cmd.Run()
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// site starts a plain origin and returns its address.
func site(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: h}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		server.Close()
		serving.Wait()
	})
	return "http://" + l.Addr().String()
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") }

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

	main "github.com/fairdoor-gate/fairdoor/cmd/fairdoor"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// asProgram is the variable with which the tests' own binary is the program, for scripts.
const asProgram = "FAIRDOOR_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	os.Exit(inScript(os.Args[1:]))
}

// inScript runs the program as a script asks for it. What would go on for ever ends as soon as it
// has begun.
func inScript(args []string) int {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	begun := ""
	switch {
	case slices.Contains(args, "--help"):
	case args[0] == "serve" || args[0] == "demo":
		begun, args = "ready", append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
		if args[0] == "serve" {
			args = append(args, "--state-dir", filepath.Join(os.Getenv("HOME"), "state"), "--log-format", "json")
		} else {
			begun = "Ctrl-C"
		}
	case slices.Contains(args, "--watch"):
		begun = "shop"
	}
	return main.Program(ctx, args, &watcher{to: os.Stdout, wanted: begun, seen: stop}, &watcher{to: os.Stderr, wanted: begun, seen: stop})
}

// watcher passes on what is written, and says when it has seen a text.
type watcher struct {
	mu     sync.Mutex
	to     io.Writer
	wanted string
	all    bytes.Buffer
	seen   func()
}

func (w *watcher) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(text)
	if w.wanted != "" && strings.Contains(w.all.String(), w.wanted) {
		w.seen()
	}
	return w.to.Write(text)
}

// elsewhere stands in for programs that a test cannot run as they are: managers of packages,
// services and containers. It holds that the files of the repository that they are given are there,
// and runs the program where they would run it.
const elsewhere = `
for a; do
	case $a in examples/*) [ -e "$REPOSITORY/$a" ] || { echo "there is no $a" >&2; exit 1; };; esac
done
while [ $# -gt 0 ]; do
	case $1 in /fairdoor | fairdoor-gate/fairdoor:*) shift; exec fairdoor "$@";; esac
	shift
done`

// stubs are the programs that stand in for those of the same names.
var stubs = map[string]string{
	"docker": elsewhere, "kubectl": elsewhere, "helm": elsewhere, "apt": elsewhere, "systemctl": elsewhere, "editor": elsewhere,
	"journalctl": elsewhere, "ssh": elsewhere, "ssh-keygen": elsewhere, "promtool": elsewhere, "kill": "",
	"curl": `
case "$*" in
*https://www.cloudflare.com/ips-v[46]) echo 192.0.2.0/24;;
*https://api.cloudflare.com/*/events) cat "$REPOSITORY/cmd/fairdoor/testdata/import/events.json";;
*https://api.cloudflare.com/*/rules) cat "$REPOSITORY/cmd/fairdoor/testdata/import/rules.json";;
*https://api.cloudflare.com/*) cat "$REPOSITORY/cmd/fairdoor/testdata/import/shop.json";;
*) exec "$CURL" "$@";;
esac`,
	"make": `grep -q "^$1:" "$REPOSITORY/Makefile" || { echo "make has no $1" >&2; exit 1; }`,
	"go": `
case "$*" in
run\ ./cmd/fairdoor\ *) shift 2; exec fairdoor "$@";;
run\ ./examples/*) [ -d "$REPOSITORY/$2" ];;
install\ *@latest) [ "$2" = github.com/fairdoor-gate/fairdoor/cmd/fairdoor@latest ];;
test\ *)
	cd "$REPOSITORY"
	for a; do case $a in ./*) package=$a;; Test* | Benchmark*) pattern=$a;; esac; done
	[ -z "${pattern-}" ] || grep -rqE "^func ($pattern)" "$package";;
*) echo "what is go $*?" >&2; exit 1;;
esac`,
}

// scripted is a gate for the commands of a page, with the addresses that pages have for it.
type scripted struct{ admin, visitors, site string }

// everything is what the pages' commands need of a gate.
const everything = `
database: DIR/lists.db
rooms:
  - {name: shop, total_active_users: 500, new_users_per_minute: 300, occupants: {keys: [a-secret-of-your-programs]}, passes: true, queueing_method: fifo, call_back: true, claim_within: 1m}
waitlists: [{name: beta, room: shop, url: https://shop.example.com}]
webhook_hosts: [http://localhost]
webhooks: [{name: pager, url: http://localhost:1/, secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]
`

// startScripted starts the gate.
func startScripted(t *testing.T, dir string) scripted {
	t.Helper()
	at := scripted{porttest.Address(t), porttest.Address(t), porttest.Address(t)}
	file := filepath.Join(dir, "everything.yaml")
	require.NoError(t, os.WriteFile(file, []byte("origin: http://"+at.site+strings.ReplaceAll(everything, "DIR", dir)), 0o600))
	stagetest.Start(t, at.admin, func(ctx context.Context, out io.Writer) error {
		if code := main.Program(ctx, []string{"serve", "--config", file, "--listen", at.visitors, "--admin", at.admin, "--state-dir", filepath.Join(dir, "gate")}, out, out); code != 0 {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	})
	return at
}

// TestCommandsInThePagesRun runs every command of the pages, page by page, as a shell does.
func TestCommandsInThePagesRun(t *testing.T) {
	programs := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	curl, err := exec.LookPath("curl")
	require.NoError(t, err)
	script := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/bash\nset -eu\n"+text+"\n"), 0o700)) //nolint:gosec // to be run
	}
	script("fairdoor", fmt.Sprintf("exec env %s=1 %q \"$@\"", asProgram, self))
	for name, text := range stubs {
		script(name, text)
	}
	for path, document := range documents(t) {
		commands := blocks(document, "sh")
		if len(commands) == 0 || !strings.Contains(path, "/docs/") && path != filepath.Join(repository, "README.md") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			dir := t.TempDir()
			prepare(t, dir)
			at := startScripted(t, dir)
			for name, text := range map[string]string{
				"fairdoor.yaml": file(t, "examples/custom-page/fairdoor.yaml"), "page.mustache": file(t, "examples/custom-page/page.mustache"), "access.log": accessLog, "SHA256SUMS": accessLogSum + "  access.log\n",
				"gate1.jsonl": file(t, "cmd/fairdoor/testdata/order.jsonl"), "gate2.jsonl": file(t, "cmd/fairdoor/testdata/order.jsonl"),
			} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			require.NoError(t, os.Mkdir(filepath.Join(dir, "moved"), 0o700))
			text := strings.NewReplacer("127.0.0.1:9090", at.admin, "localhost:9090", at.admin, "127.0.0.1:8080", at.visitors, "localhost:8080", at.visitors,
				"127.0.0.1:3000", at.site, "bin/fairdoor", "fairdoor").Replace(strings.Join(commands, "\n"))
			cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "HOME="+dir, "REPOSITORY="+root, "CURL="+curl, "ZONE=zone", "ROOM=room", "TOKEN=token", "FAIRDOOR_ADMIN="+at.admin, "FAIRDOOR_ADMIN_TOKEN=")
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s\n%s", text, out)
		})
	}
}

// accessLogSum is the SHA-256 of accessLog.
const accessLogSum = "61e87c6f29a6baf2d11e22664fb87167474b03e14622eb9b35dbb074075f7ae4"

// accessLog is one that a site may have.
const accessLog = `192.0.2.1 - - [28/Nov/2025:09:00:00 +0100] "GET / HTTP/1.1" 200 512 "-" "Mozilla/5.0"
192.0.2.2 - - [28/Nov/2025:09:00:10 +0100] "GET / HTTP/1.1" 200 512 "-" "Mozilla/5.0"
`

func TestScriptsFailWithTheirCommands(t *testing.T) {

	self, err := os.Executable()
	require.NoError(t, err)
	for _, c := range []struct {
		args []string
		code int
	}{{[]string{"keygen"}, 0}, {[]string{"keygn"}, 2}, {[]string{"serve", "--total-active-users", "x"}, 2}} {
		cmd := exec.CommandContext(t.Context(), self, c.args...)
		cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir())
		_ = cmd.Run() // its code says
		assert.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v", c.args)
	}
}

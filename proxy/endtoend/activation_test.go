package endtoend_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// socket listens at an address, as a socket unit of systemd does.
func socket(t *testing.T, address string) (*os.File, net.Listener) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	file, err := l.(*net.TCPListener).File()
	require.NoError(t, err)
	t.Cleanup(func() {
		file.Close()
		l.Close()
	})
	return file, l
}

// withSockets is a command that starts a program as systemd does: the sockets are its files from 3
// on, and are for this process.
func withSockets(names string, sockets ...*os.File) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", `names=$0 count=$1; shift; exec env LISTEN_PID=$$ LISTEN_FDS="$count" LISTEN_FDNAMES="$names" "$@"`, names, string(rune('0'+len(sockets))))
	cmd.ExtraFiles = sockets
	return cmd
}

func TestAGateTakesTheSocketsOfItsUnit(t *testing.T) {
	t.Parallel()
	g := newGate(t, nil, "--origin", site(t, hello), "--total-active-users", "5", "--new-users-per-minute", "5")
	visitors, l := socket(t, strings.TrimPrefix(g.url, "http://"))
	operators, _ := socket(t, strings.TrimPrefix(g.admin, "http://"))
	early, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer early.Close()
	_, err = io.WriteString(early, "GET / HTTP/1.0\r\nHost: site.test\r\n\r\n")
	require.NoError(t, err)

	g.launchBy(withSockets("listen:admin", visitors, operators))
	answer, err := io.ReadAll(early)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(answer), "\r\n\r\nin"), "who came before the gate was there is answered: %s", answer)
	assert.Equal(t, http.StatusOK, g.ready())

	g.succeed(g.cmd.Process)
	g.until("the first gate has ended", func() bool { return g.cmd.Process.Signal(syscall.Signal(0)) != nil })
	assert.Equal(t, "in", body(t, somebody(t), g.url), "its sockets go to a successor, too")
	assert.NotContains(t, g.log.String(), `"level":"error"`)
}

func TestAGateIsStartedBySystemdsOwnProgram(t *testing.T) {
	t.Parallel()
	g := newGate(t, nil, "--origin", site(t, hello), "--total-active-users", "5", "--new-users-per-minute", "5")
	g.launchBy(exec.Command("systemd-socket-activate", "--listen", strings.TrimPrefix(g.url, "http://"), "--fdname", "listen"))
	g.until("it listens", func() bool { return strings.Contains(g.log.String(), "Listening on") })
	assert.Equal(t, "in", body(t, somebody(t), g.url))
}

func TestSocketsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    string // "" for the gate's own address
		names string
		want  string
	}{
		"another address": {"127.0.0.1:0", "listen", "and the configuration says"},
		"another name":    {"", "fairdoor.socket", "the names are listen, admin and tls.redirect"},
		"no use":          {"127.0.0.1:0", "tls.redirect", "the configuration has no address for it"},
		"too few":         {"", "listen:admin", "LISTEN_FDS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t, nil, "--origin", "http://127.0.0.1:9", "--total-active-users", "5", "--new-users-per-minute", "5")
			at := c.at
			if at == "" {
				at = strings.TrimPrefix(g.url, "http://")
			}
			file, _ := socket(t, at)
			g.launchBy(withSockets(c.names, file))
			assert.NotZero(t, g.exit())
			assert.Contains(t, g.log.String(), c.want)
		})
	}
}

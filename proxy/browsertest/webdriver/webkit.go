package webdriver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// server speaks to a server of WebDriver.
type server struct{ url string } // of the session, once there is one

// WebKitGTK starts WebKit's own small browser on a screen that nobody sees. It ends with the test.
func WebKitGTK(t testing.TB) *Browser {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
	require.NoError(t, err)
	require.NotEmpty(t, found, "make soak installs WebKitGTK's MiniBrowser")
	home, address := t.TempDir(), porttest.Address(t)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	start(t, []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "DISPLAY=" + screen(t), "WEBKIT_DISABLE_COMPOSITING_MODE=1", "LIBGL_ALWAYS_SOFTWARE=1"}, nil,
		"WebKitWebDriver", "--host="+host, "--port="+port)
	require.True(t, eventually(func() bool {
		answer, err := http.Get("http://" + address + "/status")
		if err != nil {
			return false
		}
		return answer.Body.Close() == nil
	}), "WebKitWebDriver answers")
	return open(t, &server{"http://" + address + "/session"}, map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"acceptInsecureCerts":      true, // certificates that nobody has signed are taken
		"webkitgtk:browserOptions": map[string]any{"binary": found[0], "args": []string{"--automation"}},
	}}})
}

// screen starts a display without a screen, and returns its name.
func screen(t testing.TB) string {
	t.Helper()
	number, theirs, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, number.Close()) }()
	start(t, nil, []*os.File{theirs}, "Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "1280x1024x24")
	require.NoError(t, theirs.Close())
	text, err := bufio.NewReader(number).ReadString('\n')
	require.NoError(t, err)
	return ":" + strings.TrimSpace(text)
}

func (s *server) do(c command, parameters any) (json.RawMessage, error) {
	text, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	if c.method != http.MethodPost {
		text = nil
	}
	q, err := http.NewRequest(c.method, s.url+c.path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: patience}
	answer, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var wrapped struct{ Value json.RawMessage }
	if err := json.NewDecoder(answer.Body).Decode(&wrapped); err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", c.path, wrapped.Value)
	}
	if c == newSession {
		var made struct{ SessionID string }
		if err := json.Unmarshal(wrapped.Value, &made); err != nil {
			return nil, err
		}
		s.url += "/" + made.SessionID
	}
	return wrapped.Value, nil
}

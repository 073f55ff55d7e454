package webdriver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// preferences are those of a Firefox that asks nobody but the pages under test.
const preferences = `user_pref("marionette.port", 0);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
`

// marionette speaks to Firefox in its own protocol: texts of JSON, each after its length. See
// https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html.
type marionette struct {
	net.Conn
	in   *bufio.Reader
	last int // command
}

// Firefox starts Firefox without a window. It ends with the test.
func Firefox(t testing.TB) *Browser {
	t.Helper()
	profile := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(profile, "user.js"), []byte(preferences), 0o600))
	start(t, []string{"HOME=" + profile}, nil, "firefox-esr", "--marionette", "--headless", "--no-remote", "--profile", profile)
	var port []byte
	require.True(t, eventually(func() bool {
		var err error
		port, err = os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		return err == nil && len(port) > 0
	}), "Firefox tells its port")
	c, err := net.DialTimeout("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)), patience)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	m := &marionette{Conn: c, in: bufio.NewReader(c)}
	_, err = m.read()
	require.NoError(t, err)
	return open(t, m, map[string]any{"acceptInsecureCerts": true})
}

func (m *marionette) read() (json.RawMessage, error) {
	length, err := m.in.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		return nil, err
	}
	text := make(json.RawMessage, n)
	_, err = io.ReadFull(m.in, text)
	return text, err
}

func (m *marionette) do(c command, parameters any) (json.RawMessage, error) {
	m.last++
	text, err := json.Marshal([]any{0, m.last, c.marionette, parameters})
	if err != nil {
		return nil, err
	}
	if err := m.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(m, "%d:%s", len(text), text); err != nil {
		return nil, err
	}
	answer, err := m.read()
	if err != nil {
		return nil, err
	}
	var parts [4]json.RawMessage // the kind, the number, what is wrong, the result
	if err := json.Unmarshal(answer, &parts); err != nil {
		return nil, err
	}
	if string(parts[2]) != "null" {
		return nil, fmt.Errorf("%s: %s", c.marionette, parts[2])
	}
	var wrapped struct{ Value json.RawMessage }
	if json.Unmarshal(parts[3], &wrapped) == nil && wrapped.Value != nil {
		return wrapped.Value, nil
	}
	return parts[3], nil
}

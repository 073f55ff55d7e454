package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// Without a gate the crowd comes to the origin that load itself is.
func TestLoadFailsWhenAThresholdDoes(t *testing.T) {
	at := porttest.Address(t)
	crowd := []string{"load", "http://" + at, "--origin-listen", at, "--visitors", "5", "--over", "1s", "--browse", "500ms"}
	stdout, stderr, code := fairdoor(t, append(crowd, "--total-active-users", "5", "--new-users-per-minute", "5", "--threshold", "errors<0.1%")...)
	assert.Zero(t, code, stderr)
	assert.Empty(t, stderr)
	assert.Regexp(t, `✓ active<=5 +5\n`, stdout)
	assert.Regexp(t, `✓ admitted_per_minute<=5 +[1-5]\n`, stdout)
	assert.Regexp(t, `✓ errors<0.1% +0.00 %\n`, stdout)
	assert.Less(t, strings.Index(stdout, "Thresholds"), strings.Index(stdout, "Waits"))
	assert.Less(t, strings.Index(stdout, "Waits"), strings.Index(stdout, "What the origin saw"))

	stdout, stderr, code = fairdoor(t, append(crowd, "--total-active-users", "4", "--json")...)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "a threshold does not hold")
	var report struct {
		Passed     bool
		Thresholds []struct {
			Threshold string
			Value     float64
			Passed    bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.False(t, report.Passed)
	require.Len(t, report.Thresholds, 1)
	assert.Equal(t, "active<=4", report.Thresholds[0].Threshold)
	assert.InDelta(t, 5, report.Thresholds[0].Value, 1e-9)
}

func TestLoadReadsTheLogOfTheOrigin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	require.NoError(t, os.WriteFile(path, []byte("127.0.0.1 - - [28/Nov/2025:09:00:00 +0100] \"GET / HTTP/1.1\" 200 1 \"-\" \"fairdoor-load/3\"\n"), 0o600))
	var mu sync.Mutex
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if assert.NoError(t, err) {
			fmt.Fprintf(log, "127.0.0.1 - - [%s] \"GET / HTTP/1.1\" 200 1 \"-\" %q\n", time.Now().Format("02/Jan/2006:15:04:05 -0700"), r.UserAgent())
			assert.NoError(t, log.Close())
		}
	}))
	defer origin.Close()
	crowd := []string{"load", origin.URL, "--origin-log", path, "--visitors", "5", "--over", "1s", "--browse", "500ms", "--page-view", "200ms"}
	stdout, stderr, code := fairdoor(t, append(crowd, "--threshold", "active==5")...)
	assert.Zero(t, code, "%s %s", stdout, stderr)
	_, stderr, code = fairdoor(t, append(crowd, "--total-active-users", "4")...)
	assert.Equal(t, 1, code, stderr)
	_, stderr, code = fairdoor(t, append(crowd, "--origin-log", path+".missing")...)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "--origin-log: ")
}

func TestLoadAtAGateWhoseRoomItAsksAbout(t *testing.T) {
	demo := startDemo(t)
	crowd := []string{"load", demo.gate, "--admin", strings.TrimSuffix(demo.admin, "/api/v1/rooms/demo/status"), "--visitors", "3", "--over", "1s", "--browse", "1s", "--page-view", "500ms"}
	stdout, stderr, code := fairdoor(t, append(crowd, "--room", "demo", "--threshold", "let_in==100%", "--threshold", "interrupted==0")...)
	assert.Zero(t, code, stderr)
	assert.Contains(t, stdout, "not known; --origin-listen or --origin-log tells")
	assert.Regexp(t, `let in +3\n`, stdout)
	_, stderr, code = fairdoor(t, append(crowd, "--room", "dmo")...)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "asking about the room dmo: ")
}

func TestLoadRefusesARoomWhoseOriginIsInPublic(t *testing.T) {
	origin := ""
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"origin": %q, "total_active_users": 5, "new_users_per_minute": 5}`, origin)
	}))
	t.Cleanup(api.Close)
	for address, refused := range map[string]bool{
		"http://203.0.113.7": true, "https://[2001:db8::7]:8443": true, "http://[::ffff:203.0.113.7]": true,
		"http://127.0.0.1:3000": false, "http://localhost:3000": false, "http://10.1.2.3": false, "http://[fd00::1]": false, "http://nothing.invalid": false,
	} {
		origin = address
		_, stderr, code := fairdoor(t, "load", "http://127.0.0.1:1", "--admin", api.URL, "--room", "shop", "--connections", "0")
		assert.Equal(t, 2, code, address)
		assert.Equal(t, refused, strings.Contains(stderr, "is at the public address"), "%s: %s", address, stderr)
		assert.Equal(t, !refused, strings.Contains(stderr, "--connections is 0"), "%s: %s", address, stderr)
	}
}

func TestLoadRefusesWhatIsWrong(t *testing.T) {
	for args, fault := range map[string]string{
		"":                    "takes one argument, the address of the gate",
		"http://example.com/": `URL "http://example.com/": must be at this machine`,
		"http://127.0.0.1:1 --visitors 0 --connections 0":   "--connections is 0",
		"http://127.0.0.1:1 --threshold actve<=3":           `(did you mean "active"?)`,
		"http://127.0.0.1:1 --threshold active<=3":          "--threshold active<=3 needs to know what the origin sees",
		"http://127.0.0.1:1 --room a --session-duration 1m": "--session-duration and --room do not go together",
		"http://127.0.0.1:1 --arrivals recorded":            `"recorded" for "--arrivals" flag: must be one of uniform, poisson, burst, spike, ramp`,
		"http://127.0.0.1:1 --bot 5%":                       `did you mean "--bots"?`,
	} {
		_, stderr, code := fairdoor(t, append([]string{"load"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, stderr, fault)
	}
}

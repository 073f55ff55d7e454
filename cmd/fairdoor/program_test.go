package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	main "github.com/fairdoor-gate/fairdoor/cmd/fairdoor"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

var update = flag.Bool("update", false, "write the golden files")

// fairdoor runs the program in this process.
func fairdoor(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = main.Program(t.Context(), args, &out, &err)
	return out.String(), err.String(), code
}

// golden compares text with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestValidate(t *testing.T) {
	for name, want := range map[string]int{"good": 0, "faulty": 2, "cloudflare": 0} {
		stdout, stderr, code := fairdoor(t, "validate", "--config", filepath.Join("testdata", name+".yaml"))
		assert.Equal(t, want, code, name)
		golden(t, "validate-"+name, "stdout:\n"+stdout+"stderr:\n"+stderr)
	}
	_, stderr, code := fairdoor(t, "validate", "-c", filepath.Join(t.TempDir(), "nothing.yaml"))
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "nothing.yaml")
	_, stderr, code = fairdoor(t, "validate")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "name the file to check")
}

func TestServeRefusesAFaultyConfigurationAsValidateDoes(t *testing.T) {
	file := filepath.Join("testdata", "faulty.yaml")
	_, validated, _ := fairdoor(t, "validate", "--config", file)
	_, served, code := fairdoor(t, "serve", "--config", file)
	assert.Equal(t, 2, code)
	assert.Equal(t, validated, served)
}

func TestServeTellsWhatItNeeds(t *testing.T) {
	_, stderr, code := fairdoor(t, "serve", "--total-active-users", "x", "--state-dir", t.TempDir())
	assert.Equal(t, 2, code)
	for _, flag := range []string{"origin", "--total-active-users", "--new-users-per-minute"} {
		assert.Contains(t, stderr, flag)
	}
}

func TestSchemaPrintsWhatEditorsCanRead(t *testing.T) {
	stdout, stderr, code := fairdoor(t, "schema")
	require.Equal(t, 0, code)
	assert.Empty(t, stderr)
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &schema))
	assert.Contains(t, schema.Properties, "rooms")
}

func TestKeygenPrintsANewKeyAloneOnOneLine(t *testing.T) {
	first, stderr, code := fairdoor(t, "keygen")
	assert.Zero(t, code)
	assert.Empty(t, stderr)
	second, _, _ := fairdoor(t, "keygen")
	assert.NotEqual(t, first, second)
	for _, key := range []string{first, second} {
		assert.Regexp(t, `^[A-Za-z0-9_-]+\n$`, key)
		_, err := cookie.ParseKey(key)
		assert.NoError(t, err)
	}
}

func TestVersion(t *testing.T) {
	for _, way := range []string{"version", "--version"} {
		stdout, _, code := fairdoor(t, way)
		assert.Zero(t, code)
		assert.Regexp(t, `^fairdoor \S+ go1\.\S+ \w+/\w+\n$`, stdout)
	}
}

func TestWrongCommandLinesAreAnsweredWithASuggestion(t *testing.T) {
	for line, want := range map[string]string{
		"stauts":                        `there is no command "stauts" (did you mean "status"?)`,
		"stauts --admin 127.0.0.1:9090": `there is no command "stauts" (did you mean "status"?)`,
		"events lits shop --admin 127.0.0.1:9090": `there is no command "lits" (did you mean "list"?)`,
		"help stauts":                             `there is no command "stauts" (did you mean "status"?)`,
		"help events lits":                        `there is no command "lits" (did you mean "list"?)`,
		"completion bsh":                          `there is no command "bsh" (did you mean "bash"?)`,
		"events lits":                             `there is no command "lits" (did you mean "list"?)`,
		"serv":                                    `there is no command "serv" (did you mean "serve"?)`,
		"nonsense":                                `there is no command "nonsense"; see fairdoor --help`,
		"serve --total-active-user 5":             `unknown flag: --total-active-user (did you mean "--total-active-users"?)`,
		"serve --origi http://x":                  `(did you mean "--origin"?)`,
		"serve --cookie-keys x":                   "unknown flag: --cookie-keys (set FAIRDOOR_COOKIE_KEYS: everybody",
		"serve --zzzzzzzz":                        "unknown flag: --zzzzzzzz; see fairdoor serve --help",
		"serve fairdoor.yaml":                     `fairdoor serve takes no arguments, and got "fairdoor.yaml"`,
		"keygen 2":                                "fairdoor keygen takes no arguments",
		"validate --confg x":                      `(did you mean "--config"?)`,
		"serve --config":                          "flag needs an argument",
		"--version-of-what":                       "unknown flag",
		"status --admin-tokn x":                   `(did you mean "--admin-token"?)`,
		"serve --queueing-method fifos":           `(did you mean "fifo"?)`,
		"demo --queueing-method fiffo":            `(did you mean "fifo"?)`,
		"simulate --queueing-method fiffo,random": `(did you mean "fifo"?)`,
		"simulate --pacing evn":                   `(did you mean "even"?)`,
		"simulate --experiment spofed":            `(did you mean "spoofed"?)`,
		"load --arrivals spikes http://x":         `(did you mean "spike"?)`,
		"preview --method randm":                  `(did you mean "random"?)`,
		"preview --event startd":                  `(did you mean "started"?)`,
		"report --format htm":                     `(did you mean "html"?)`,
		"pass make shop --kind ahed":              `(did you mean "ahead"?)`,
		"waitlist entries beta --status inviteed": `(did you mean "invited"?)`,
	} {
		stdout, stderr, code := fairdoor(t, strings.Fields(line)...)
		assert.Equal(t, 2, code, line)
		assert.Contains(t, stderr, want, line)
		assert.Empty(t, stdout, line)
	}
}

func TestHelpNamesTheCommands(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"help"}} {
		stdout, _, code := fairdoor(t, args...)
		assert.Zero(t, code)
		for _, command := range []string{"demo", "serve", "validate", "schema", "status", "waitlist", "keygen", "version", "set", "queue-all", "preview", "webhooks"} {
			assert.Contains(t, stdout, "\n  "+command+" ", "%v", args)
		}
	}
	stdout, _, code := fairdoor(t, "serve", "--help")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "--total-active-users")
}

func TestStatusShowsTheRoomsAsATable(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/api/v1/rooms":
			_, _ = w.Write([]byte(`[{"name": "shop", "queueing_method": "fifo", "total_active_users": 200, "new_users_per_minute": 30},
				{"name": "chat.gone"},
				{"name": "tickets", "queueing_method": "random", "total_active_users": 5, "new_users_per_minute": 5}]`))
		case "/api/v1/rooms/shop/status":
			_, _ = w.Write([]byte(`{"status": "queueing", "reason": "limit_reached", "activeUsers": 200, "openSlots": 0, "estimated_queued_users": 1234, "admittedThisMinute": 12, "max_estimated_time_minutes": 42}`))
		case "/api/v1/rooms/chat.gone/status":
			reply.Problem(w, http.StatusNotFound, "There is no such room.")
		default:
			_, _ = w.Write([]byte(`{"status": "not_queueing", "reason": "none", "activeUsers": 1, "openSlots": 4}`))
		}
	}))
	t.Cleanup(api.Close)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("secret\n"), 0o600))
	for _, c := range []struct {
		environment string // its token
		args        []string
	}{
		{"secret", []string{"--admin", api.URL}},
		{"secret", []string{"--admin", strings.TrimPrefix(api.URL, "http://")}},
		{"another", []string{"--admin", api.URL + "/", "--admin-token-file", file}},
		{"another", []string{"--admin", api.URL, "--admin-token", "secret"}},
		{"", []string{"--admin", api.URL, "--admin-token", "secret", "--admin-token-file", "/nowhere"}},
	} {
		t.Setenv("FAIRDOOR_ADMIN_TOKEN", c.environment)
		stdout, stderr, code := fairdoor(t, append([]string{"status"}, c.args...)...)
		assert.Zero(t, code, stderr)
		golden(t, "status", stdout)
		assert.NotContains(t, stdout, "secret")
	}
	t.Setenv("FAIRDOOR_ADMIN_TOKEN", "secret")
	help, _, _ := fairdoor(t, "status", "--help")
	assert.NotContains(t, help, "secret")
}

func TestStatusTellsWhatIsWrong(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"detail": "Send the admin token."}`))
	}))
	t.Cleanup(refusing.Close)
	_, stderr, code := fairdoor(t, "status", "--admin", refusing.URL)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "the gate says 401 Unauthorized: Send the admin token.")

	babbling := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	t.Cleanup(babbling.Close)
	_, stderr, code = fairdoor(t, "status", "--admin", babbling.URL)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "reading what the gate said of /api/v1/rooms")

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, stderr, code = fairdoor(t, "status", "--admin", gone.URL)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "is it running, and its admin API at "+gone.URL)

	empty := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(empty, []byte("\n"), 0o600))
	for _, file := range []string{empty, empty + "s"} {
		_, stderr, code = fairdoor(t, "status", "--admin", gone.URL, "--admin-token-file", file)
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "reading the admin token: ")
		assert.Contains(t, stderr, file)
	}

	_, stderr, code = fairdoor(t, "status", "--admin", "ftp://localhost")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, `"ftp://localhost" is neither an address nor an http or https URL`)
}

func TestStatusSpeaksTLSWhereItIsAskedTo(t *testing.T) {
	api := httptest.NewUnstartedServer(http.NotFoundHandler())
	api.Config.ErrorLog = log.New(io.Discard, "", 0)
	api.StartTLS()
	t.Cleanup(api.Close)
	_, stderr, code := fairdoor(t, "status", "--admin", api.URL)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "failed to verify certificate")
}

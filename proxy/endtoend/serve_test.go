package endtoend_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

func TestServeWorksFromFlagsAlone(t *testing.T) {
	t.Parallel()
	g := serve(t, nil, "--origin", site(t, hello), "--total-active-users", "5", "--new-users-per-minute", "4", "--queueing-method", "random")
	resp, err := http.Get(g.url)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "in", string(body))
	assert.Len(t, resp.Cookies(), 1)
	told := g.room("default")
	assert.EqualValues(t, 5, told["total_active_users"])
	assert.EqualValues(t, 4, told["new_users_per_minute"])
	assert.Equal(t, "random", told["queueing_method"])
	for line := range strings.Lines(g.log.String()) {
		assert.True(t, json.Valid([]byte(line)), "logs are lines of JSON: %s", line)
	}

	key := filepath.Join(g.args[6], "cookie.key")
	info, err := os.Stat(key)
	require.NoError(t, err, "it made a cookie key for itself")
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	assert.Regexp(t, `"msg":"starting","version":"\S+","pid":\d+,"config":"","store":"memory","memory_limit_mib":[1-9]\d{0,7}\}`, g.log.String())

	// Another minute may have begun, which has its whole allowance.
	stdout, _, code := run(t, "status", "--admin", strings.TrimPrefix(g.admin, "http://"))
	assert.Zero(t, code)
	assert.Regexp(t, `^ROOM +STATUS +METHOD +ACTIVE +OPEN +QUEUED +THIS MINUTE +LONGEST WAIT +WHY\ndefault +not queueing +random +1/5 +[34] +0 +[01]/4 +- +-\n$`, stdout)
}

func TestFlagsGoBeforeTheEnvironmentAndThatBeforeTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fairdoor.yaml")
	require.NoError(t, os.WriteFile(file, []byte("origin: "+site(t, hello)+`
rooms:
  - {name: shop, total_active_users: 1, new_users_per_minute: 1, session_duration: 11m}
`), 0o600))
	g := serve(t, []string{"FAIRDOOR_TOTAL_ACTIVE_USERS=20", "FAIRDOOR_NEW_USERS_PER_MINUTE=20"}, "--config", file, "--total-active-users", "300")
	told := g.room("shop")
	assert.EqualValues(t, 300, told["total_active_users"], "the flag's")
	assert.EqualValues(t, 20, told["new_users_per_minute"], "the environment's")
	assert.Equal(t, "11m", told["session_duration"], "the file's")
	assert.Equal(t, "20s", told["refresh_interval"], "the default")
}

func TestReloadTakesUpTheFileOrTellsWhyNot(t *testing.T) {
	t.Parallel()
	file, origin := filepath.Join(t.TempDir(), "fairdoor.yaml"), site(t, hello)
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte("origin: "+origin+"\n"+text), 0o600))
	}
	write("rooms: [{name: shop, total_active_users: 5, new_users_per_minute: 5}]\n")
	g := serve(t, nil, "--config", file)

	write("rooms: [{name: shop, total_active_users: five, new_users_per_minute: 5, on_store_error: opn}]\n")
	g.signal(syscall.SIGHUP)
	g.until("both faults are told", func() bool {
		log := g.log.String()
		return strings.Contains(log, file+":2:42: rooms[0].total_active_users") && strings.Contains(log, "did you mean \\\"open\\\"")
	})
	assert.EqualValues(t, 5, g.room("shop")["total_active_users"])
	before := g.metrics()
	assert.Contains(t, before, "\nfairdoor_reload_success 0\n")

	write("shutdown_grace: 5s\nrooms: [{name: shop, total_active_users: 7, new_users_per_minute: 5, on_store_error: open}]\n")
	g.signal(syscall.SIGHUP)
	g.until("it is taken up", func() bool { return strings.Contains(g.log.String(), "configuration reloaded") })
	assert.EqualValues(t, 7, g.room("shop")["total_active_users"])
	assert.Equal(t, "open", g.room("shop")["on_store_error"])
	assert.Contains(t, g.log.String(), `"msg":"this change takes effect at the next start","key":"shutdown_grace"`)
	after, digest := g.metrics(), regexp.MustCompile(`fairdoor_configuration_info\{digest="[0-9a-f]{12}"\} 1`)
	assert.Contains(t, after, "\nfairdoor_reload_success 1\n")
	assert.Len(t, digest.FindAllString(after, -1), 1)
	assert.NotEqual(t, digest.FindString(before), digest.FindString(after))
}

func TestListsOfNetworksAreRenewedByThemselvesAndNothingElseIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, list := filepath.Join(dir, "fairdoor.yaml"), filepath.Join(dir, "office")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(list, "192.0.2.0/24\n")
	write(file, "origin: "+site(t, hello)+`
rooms:
  - {name: shop, total_active_users: 5, new_users_per_minute: 5, queueing_method: reject, rules: [{action: bypass_waiting_room, match: {cidr_file: office}}]}
`)
	g := serve(t, nil, "--config", file)
	exempt := func() bool {
		resp, err := http.Get(g.url)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.Header.Get("Fairdoor-Room") == ""
	}
	status := func() string {
		stdout, _, _ := run(t, "status", "--admin", strings.TrimPrefix(g.admin, "http://"))
		return stdout
	}
	assert.False(t, exempt())
	write(file, "what an operator has begun to write")
	write(list, "127.0.0.0/8\n")
	g.until("the list is renewed", exempt)
	assert.EqualValues(t, 5, g.room("shop")["total_active_users"])

	const refused = "The configuration, or a list of networks, was refused"
	assert.NotContains(t, status(), refused)
	write(list, "127.0.0.0/8\nnobody\n")
	g.until("the fault is told", func() bool { return strings.Contains(status(), refused) })
	assert.Contains(t, g.metrics(), "\nfairdoor_reload_success 0\n")
	assert.True(t, exempt(), "the old list stays")

	write(list, "192.0.2.0/24\n")
	g.until("it is renewed again", func() bool { return !exempt() })
	g.until("all is well", func() bool { return !strings.Contains(status(), refused) })
	assert.Contains(t, g.metrics(), "\nfairdoor_reload_success 1\n")
	assert.Equal(t, 1, strings.Count(g.log.String(), list+":2:1: "), "%s", g.log)
}

func TestOperatorsAreTakenUpAndAReloadOpensTheAdminListenerToNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "fairdoor.yaml")
	write := func(more string) {
		require.NoError(t, os.WriteFile(file, []byte("origin: "+site(t, hello)+"\n"+more+"\nrooms: [{name: shop, total_active_users: 5, new_users_per_minute: 5}]\n"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "operators"), []byte("# the night shift\nada operator 0123456789abcdef\n"), 0o600))
	write("operators_file: operators")
	g := serve(t, nil, "--config", file)
	asks := func(token string) int {
		r, err := http.NewRequest(http.MethodGet, g.admin+"/api/v1/rooms", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	assert.Equal(t, http.StatusOK, asks("0123456789abcdef"))
	assert.Equal(t, http.StatusUnauthorized, asks("fedcba9876543210"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "operators"), []byte("ben viewer fedcba9876543210\n"), 0o600))
	g.signal(syscall.SIGHUP)
	g.until("ben is taken up", func() bool { return asks("fedcba9876543210") == http.StatusOK })
	assert.Equal(t, http.StatusUnauthorized, asks("0123456789abcdef"), "and ada is gone")

	write("admin_token: one-that-is-read-at-the-start")
	g.signal(syscall.SIGHUP)
	g.until("it is refused", func() bool { return strings.Contains(g.log.String(), "nobody would be asked for a token") })
	assert.Equal(t, http.StatusUnauthorized, asks("one-that-is-read-at-the-start"))
	assert.Equal(t, http.StatusOK, asks("fedcba9876543210"))
}

func TestStateDirectoryIsOneGates(t *testing.T) {
	t.Parallel()
	g := serve(t, nil, "--origin", site(t, hello), "--total-active-users", "5", "--new-users-per-minute", "4")
	second := append([]string{"serve", "--listen", porttest.Address(t), "--admin", porttest.Address(t)}, g.args[5:]...)
	_, stderr, code := run(t, second...)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "another gate is using the state directory "+g.args[6])
	assert.Equal(t, http.StatusOK, g.ready())
}

func TestBusyAddressIsToldAndLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	g := serve(t, nil, "--origin", site(t, hello), "--total-active-users", "5", "--new-users-per-minute", "4")
	for _, flag := range []string{"--listen", "--admin"} {
		args := []string{"serve", "--listen", porttest.Address(t), "--admin", porttest.Address(t), "--state-dir", t.TempDir(), "--origin", site(t, hello),
			"--total-active-users", "5", "--new-users-per-minute", "4", flag, strings.TrimPrefix(map[string]string{"--listen": g.url, "--admin": g.admin}[flag], "http://")}
		_, stderr, code := run(t, args...)
		assert.Equal(t, 1, code, flag)
		assert.Contains(t, stderr, "address already in use", flag)
	}
}

func TestTerminationDrains(t *testing.T) {
	t.Parallel()
	arrived, finish := make(chan struct{}), make(chan struct{})
	g := serve(t, nil, "--total-active-users", "5", "--new-users-per-minute", "4", "--origin", site(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-finish
		_, _ = io.WriteString(w, "finished")
	}))
	answered := make(chan string)
	go func() {
		resp, err := http.Get(g.url)
		if !assert.NoError(t, err) {
			close(answered)
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		assert.NoError(t, err)
		answered <- string(body)
	}()
	<-arrived
	g.signal(syscall.SIGTERM)
	g.until("it says that it is not ready", func() bool { return g.ready() == http.StatusServiceUnavailable })
	g.until("it accepts no more", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	close(finish)
	assert.Equal(t, "finished", <-answered, "the request under way is finished")
	assert.Equal(t, 0, g.exit())
}

func TestTerminationBreaksOffWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	g := serve(t, nil, "--total-active-users", "5", "--new-users-per-minute", "4", "--shutdown-grace", "100ms",
		"--origin", site(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
	resp, err := http.Get(g.url)
	require.NoError(t, err)
	defer resp.Body.Close()
	g.signal(syscall.SIGTERM)
	assert.Zero(t, g.exit(), "a stream that goes on is no failure")
	assert.Contains(t, g.log.String(), `"msg":"requests were broken off"`)
	for line := range strings.Lines(g.log.String()) {
		assert.True(t, json.Valid([]byte(line)), "logs are lines of JSON: %s", line)
	}
}

func TestSecondSignalEndsTheProgramAtOnce(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	g := serve(t, nil, "--total-active-users", "5", "--new-users-per-minute", "4", "--origin", site(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	go func() {
		if resp, err := http.Get(g.url); err == nil {
			resp.Body.Close()
		}
	}()
	<-arrived
	g.signal(syscall.SIGTERM)
	g.until("it is stopping", func() bool { return g.ready() == http.StatusServiceUnavailable })
	g.signal(syscall.SIGTERM)
	assert.NotZero(t, g.exit())
}

func TestTheAccessLogGoesOnUnderItsNameAfterARename(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "access.log")
	g := serve(t, nil, "--origin", site(t, hello), "--total-active-users", "5", "--new-users-per-minute", "4", "--access-log-to", path)
	asks := func(page, file string) {
		answer, err := http.Get(g.url + page)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		g.until(page+" is written", func() bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(text), page)
		})
	}
	asks("/before", path)
	require.NoError(t, os.Rename(path, path+".1"))
	asks("/between", path+".1")
	g.signal(syscall.SIGHUP)
	g.until("it is opened again", func() bool { _, err := os.Stat(path); return err == nil })
	asks("/after", path)
	old, err := os.ReadFile(path + ".1")
	require.NoError(t, err)
	assert.NotContains(t, string(old), "/after")
}

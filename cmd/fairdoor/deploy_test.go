package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	main "github.com/fairdoor-gate/fairdoor/cmd/fairdoor"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/queue/certtest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// file reads a file of the repository.
func file(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, path))
	require.NoError(t, err)
	return string(text)
}

// node is a part of a YAML file; one that is not there is empty.
type node struct{ value any }

// at follows keys, and into lists by their elements' name or by number.
func (n node) at(keys ...any) node {
	for _, key := range keys {
		switch in := n.value.(type) {
		case map[string]any:
			n.value = in[key.(string)]
		case []any:
			n.value = element(in, key)
		default:
			return node{}
		}
	}
	return n
}

func element(list []any, key any) any {
	if i, ok := key.(int); ok {
		return list[i]
	}
	i := slices.IndexFunc(list, func(e any) bool { return node{e}.at("name").value == key })
	if i < 0 {
		return nil
	}
	return list[i]
}

func (n node) text() string { s, _ := n.value.(string); return s }

// duration is how long a text or a number of seconds says.
func (n node) duration(t *testing.T) time.Duration {
	t.Helper()
	if seconds, ok := n.value.(int); ok {
		return time.Duration(seconds) * time.Second
	}
	d, err := time.ParseDuration(n.text())
	require.NoError(t, err)
	return d
}

// objects are the documents of a YAML file, by kind and name.
func objects(t *testing.T, path string) map[string]node {
	t.Helper()
	all := map[string]node{}
	decoder := yaml.NewDecoder(strings.NewReader(file(t, path)))
	for {
		var document map[string]any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err, path)
		n := node{document}
		all[strings.Trim(n.at("kind").text()+" "+n.at("metadata", "name").text(), " ")] = n
	}
}

// defaultStop is how long a gate takes to stop at most, if nothing is configured.
func defaultStop(t *testing.T) time.Duration {
	t.Helper()
	defaults := objects(t, "cmd/fairdoor/config/fairdoor.yaml")[""]
	return defaults.at("drain_delay").duration(t) + defaults.at("shutdown_grace").duration(t)
}

// validConfiguration says that a configuration holds.
func validConfiguration(t *testing.T, path string) {
	t.Helper()
	_, stderr, code := fairdoor(t, "validate", "--config", path)
	assert.Zero(t, code, "%s: %s", path, stderr)
	assert.Empty(t, stderr, path)
}

func TestTheVersionIsThatOfTheChangelogEverywhere(t *testing.T) {
	version := regexp.MustCompile(`(?m)^## v(\d+\.\d+\.\d+)$`).FindStringSubmatch(file(t, "CHANGELOG.md"))
	require.Len(t, version, 2)
	chart := objects(t, "examples/helm/Chart.yaml")[""]
	assert.Equal(t, version[1], chart.at("version").text())
	assert.Equal(t, version[1], chart.at("appVersion").text())
	named := regexp.MustCompile(`fairdoor-gate/fairdoor:([\w.-]+)|fairdoor_(\d[\w.-]*?)_`)
	for _, path := range []string{"README.md", "cmd/fairdoor/docs/install.md", "cmd/fairdoor/docs/kubernetes.md", "cmd/fairdoor/docs/upgrade.md", "examples/compose/compose.yaml", "examples/compose/README.md",
		"examples/kubernetes/fairdoor.yaml", "examples/kubernetes/README.md"} {
		for _, match := range named.FindAllStringSubmatch(file(t, path), -1) {
			assert.Equal(t, version[1], match[1]+match[2], path)
		}
	}
	assert.Contains(t, file(t, "examples/compose/compose.yaml"), "fairdoor-gate/fairdoor:"+version[1])
}

func TestTheUnitGivesTheGateTimeToStop(t *testing.T) {
	unit := file(t, "examples/systemd/fairdoor.service")
	stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(\w+)$`).FindStringSubmatch(unit)
	require.Len(t, stop, 2)
	timeout, err := time.ParseDuration(stop[1])
	require.NoError(t, err)
	assert.Greater(t, timeout, defaultStop(t))
	for _, match := range regexp.MustCompile(`(?m)^Exec\w+=/usr/bin/fairdoor (\w+)(.*)$`).FindAllStringSubmatch(unit, -1) {
		help, _, code := fairdoor(t, match[1], "--help")
		assert.Zero(t, code)
		for _, flag := range regexp.MustCompile(`--[\w-]+`).FindAllString(match[2], -1) {
			assert.Contains(t, help, flag, match[0])
		}
	}
	validConfiguration(t, filepath.Join(repository, "examples", "systemd", "fairdoor.yaml"))
}

func TestTheSocketIsTheAddressOfTheConfiguration(t *testing.T) {
	unit := file(t, "examples/systemd/fairdoor.socket")
	assert.Contains(t, unit, "\nListenStream="+strings.TrimPrefix(objects(t, "examples/systemd/fairdoor.yaml")[""].at("listen").text(), ":")+"\n")
	assert.Contains(t, unit, "\nFileDescriptorName=listen\n")
}

func TestSystemdTakesTheUnits(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"fairdoor.service", "fairdoor.socket"} {
		// The program is not installed here.
		unit := strings.ReplaceAll(file(t, "examples/systemd/"+name), "/usr/bin/fairdoor ", "/bin/true ")
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(unit), 0o600))
	}
	said, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", filepath.Join(dir, "fairdoor.socket"), filepath.Join(dir, "fairdoor.service")).CombinedOutput()
	assert.NoError(t, err)
	assert.NotContains(t, string(said), dir)
}

func TestComposeShowsVisitorsTheGateAlone(t *testing.T) {
	compose := objects(t, "examples/compose/compose.yaml")[""]
	services, _ := compose.at("services").value.(map[string]any)
	for name, service := range services {
		if name != "fairdoor" {
			assert.Nil(t, node{service}.at("ports").value, "%s is behind the gate", name)
			assert.Equal(t, []any{"behind"}, node{service}.at("networks").value)
		}
	}
	gate := compose.at("services", "fairdoor")
	assert.Equal(t, []any{"8080:8080"}, gate.at("ports").value)
	assert.Greater(t, gate.at("stop_grace_period").duration(t), defaultStop(t))
	environment, _ := gate.at("environment").value.(map[string]any)
	for name, value := range environment {
		t.Setenv(name, value.(string))
	}
	keys := filepath.Join(t.TempDir(), "keys")
	key, _, _ := fairdoor(t, "keygen")
	require.NoError(t, os.WriteFile(keys, []byte(key), 0o600))
	t.Setenv("FAIRDOOR_COOKIE_KEYS_FILE", keys)
	validConfiguration(t, filepath.Join(repository, "examples", "compose", "fairdoor.yaml"))
}

func TestTheManifestsRunTheGateAsItIs(t *testing.T) {
	all := objects(t, "examples/kubernetes/fairdoor.yaml")
	set := all["StatefulSet fairdoor"].at("spec", "template", "spec")
	gate := set.at("containers", "fairdoor")
	require.NotNil(t, gate.value)
	for name, path := range map[string]string{"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"} {
		assert.Equal(t, path, gate.at(name, "httpGet", "path").value)
		assert.Equal(t, "admin", gate.at(name, "httpGet", "port").value)
	}
	drain := gate.at("env", "FAIRDOOR_DRAIN_DELAY", "value").duration(t)
	notices := gate.at("readinessProbe", "periodSeconds").duration(t) * time.Duration(gate.at("readinessProbe", "failureThreshold").value.(int))
	assert.Greater(t, drain, notices, "balancers notice before connections are refused")
	grace := gate.at("env", "FAIRDOOR_SHUTDOWN_GRACE", "value").duration(t)
	assert.Greater(t, set.at("terminationGracePeriodSeconds").duration(t), drain+grace)
	assert.Equal(t, false, set.at("enableServiceLinks").value, "variables of Services are no settings")

	for name, object := range all {
		if strings.HasPrefix(name, "Service ") && object.at("spec", "clusterIP").value != "None" {
			assert.Equal(t, "http", object.at("spec", "ports", 0, "targetPort").value, "%s leads to visitors' port", name)
			assert.Len(t, object.at("spec", "ports").value, 1)
		}
	}
	for _, variable := range []string{"FAIRDOOR_ADMIN", "FAIRDOOR_DRAIN_DELAY", "FAIRDOOR_SHUTDOWN_GRACE", "FAIRDOOR_STORE"} {
		t.Setenv(variable, gate.at("env", variable, "value").text())
	}
	for _, secret := range []string{"FAIRDOOR_COOKIE_KEYS", "FAIRDOOR_ADMIN_TOKEN"} {
		key, _, _ := fairdoor(t, "keygen")
		t.Setenv(secret, strings.TrimSpace(key))
	}
	configuration := filepath.Join(t.TempDir(), "fairdoor.yaml")
	require.NoError(t, os.WriteFile(configuration, []byte(all["ConfigMap fairdoor"].at("data", "fairdoor.yaml").text()), 0o600))
	validConfiguration(t, configuration)
}

// watched has everything that the alerts and the dashboard know of.
const watched = `
tls: {certificates: [{cert: cert.pem, key: key.pem}]}
rooms:
  - {name: shop, total_active_users: 5, new_users_per_minute: 5, admission_control_latency: 1s}
waitlists: [{name: beta, room: shop, url: https://shop.example.com}]
webhook_hosts: [hooks.example.com]
webhooks: [{url: https://hooks.example.com/, secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]
`

// serving runs a gate in this process until the test ends. It returns the URL of its admin
// listener, and what it tells a service manager.
func serving(t *testing.T, configuration string) (admin string, told <-chan string) {
	t.Helper()
	dir := t.TempDir()
	site := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(site.Close)
	path := filepath.Join(dir, "fairdoor.yaml")
	require.NoError(t, os.WriteFile(path, []byte("origin: "+site.URL+configuration), 0o600))
	require.NoError(t, certtest.Write(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), "shop.test"))

	socket, err := net.ListenPacket("unixgram", filepath.Join(dir, "notify"))
	require.NoError(t, err)
	t.Setenv("NOTIFY_SOCKET", socket.LocalAddr().String())
	says := make(chan string, 10)
	go func() {
		defer close(says)
		message := make([]byte, 100)
		for {
			n, _, err := socket.ReadFrom(message)
			if err != nil {
				return
			}
			says <- string(message[:n])
		}
	}()

	ctx, stop := context.WithCancel(context.Background())
	at, operators := porttest.Address(t), porttest.Address(t)
	ended, log := make(chan int, 1), &stagetest.Output{}
	go func() {
		ended <- main.Program(ctx, []string{"serve", "--config", path, "--listen", at, "--admin", operators, "--state-dir", dir}, log, log)
	}()
	t.Cleanup(func() {
		stop()
		assert.Zero(t, <-ended, log.String())
		if !t.Failed() {
			assert.Equal(t, "STOPPING=1", <-says)
		}
		socket.Close()
	})
	return "http://" + operators, says
}

func TestAlertsAndDashboardAskForWhatAGateTells(t *testing.T) {
	admin, told := serving(t, watched)
	select {
	case state := <-told:
		assert.Equal(t, "READY=1", state)
	case <-time.After(time.Minute):
		require.FailNow(t, "the gate does not say that it is ready")
	}
	stdout, stderr, code := fairdoor(t, "status", "--ready", "--admin", admin)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "ok\n", stdout)

	labels := metricsAt(t, admin)
	var queries []string
	for _, group := range objects(t, "examples/monitoring/alerts.yaml")[""].at("groups").value.([]any) {
		for _, rule := range (node{group}).at("rules").value.([]any) {
			queries = append(queries, node{rule}.at("expr").text())
		}
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	require.NoError(t, json.Unmarshal([]byte(file(t, "examples/monitoring/dashboard.json")), &dashboard))
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	require.Greater(t, len(queries), 30)
	metric := regexp.MustCompile(`((?:fairdoor|process)_\w+)(?:\{([^}]*)\})?`)
	label := regexp.MustCompile(`(\w+)=`)
	for _, query := range queries {
		for _, match := range metric.FindAllStringSubmatch(query, -1) {
			if !assert.Contains(t, labels, match[1], query) {
				continue
			}
			for _, l := range label.FindAllStringSubmatch(match[2], -1) {
				assert.Contains(t, append(labels[match[1]], "job", "instance"), l[1], query)
			}
		}
	}
}

// metricsAt are the names of the metrics of a gate, and of the labels of each.
func metricsAt(t *testing.T, admin string) map[string][]string {
	t.Helper()
	answer, err := http.Get(admin + "/metrics")
	require.NoError(t, err)
	defer answer.Body.Close()
	labels := map[string][]string{}
	sample := regexp.MustCompile(`^(\w+)(?:\{(.*)\})? \S+$`)
	help := regexp.MustCompile(`^# TYPE (\w+) `)
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if match := help.FindStringSubmatch(lines.Text()); match != nil {
			labels[match[1]] = labels[match[1]][:0:0]
		}
		if match := sample.FindStringSubmatch(lines.Text()); match != nil {
			for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(match[2], -1) {
				labels[match[1]] = append(labels[match[1]], l[1])
			}
			labels[match[1]] = append(labels[match[1]], "")
		}
	}
	require.NoError(t, lines.Err())
	return labels
}

func TestAGateThatIsNotThereIsNotReady(t *testing.T) {
	draining := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/readyz", r.URL.Path)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"detail": "The gate is about to stop."}`)
	}))
	defer draining.Close()
	_, stderr, code := fairdoor(t, "status", "--ready", "--admin", draining.URL)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "The gate is about to stop.")
}

// Package check_test builds a release and walks each path of getting Fairdoor as the documents tell
// it: the package in a fresh Debian under its own systemd, the image without anything beside it,
// the chart, and what Prometheus makes of the alerts. `make release-check` runs it; it needs root
// on Debian.
package check_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// The programs of the Go module proxy that judge.
const helm = "helm.sh/helm/v4/cmd/helm@v4.3.1"

// repository is the clone that this test stands in.
const repository = "../.."

// run runs a program in a directory and returns what it says.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	text, err := try(dir, env, program, args...)
	require.NoError(t, err, "%s %s\n%s", program, strings.Join(args, " "), text)
	return text
}

func try(dir string, env []string, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// release builds the release of the last commit in a clone of its own, and returns its directory of
// files.
func release(t *testing.T, env ...string) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "fairdoor")
	run(t, ".", nil, "git", "clone", "--quiet", repository, clone)
	run(t, clone, env, "make", "release")
	return filepath.Join(clone, "dist")
}

// one is the file of a release that a pattern names.
func one(t *testing.T, dist, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dist, pattern))
	require.NoError(t, err)
	require.Len(t, files, 1, pattern)
	return files[0]
}

func TestARelease(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	run(t, ".", nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	dist := release(t, "KEY="+key)
	t.Run("has a file for each way of getting it", func(t *testing.T) { testFiles(t, dist) })
	t.Run("is a package that Debian finds no fault with", func(t *testing.T) {
		run(t, dist, nil, "lintian", "--allow-root", "--fail-on", "error", one(t, dist, "*_amd64.deb"))
	})
	t.Run("is signed by who builds it", func(t *testing.T) { testSignature(t, dist, key) })
	t.Run("is a package that Debian installs, and systemd runs", func(t *testing.T) { testPackage(t, dist) })
	t.Run("is an image that needs nothing else", func(t *testing.T) { testImage(t, dist) })
	t.Run("is the same when it is built again elsewhere", func(t *testing.T) {
		again := release(t, "GOCACHE="+t.TempDir(), "TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "GOFLAGS=-buildvcs=false")
		sums := func(dist string) string {
			text, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
			require.NoError(t, err)
			return string(text)
		}
		assert.Equal(t, sums(dist), sums(again))
	})
}

// testSignature verifies a release that was signed with a key as the documents tell it.
func testSignature(t *testing.T, dist, key string) {
	public, err := os.ReadFile(key + ".pub")
	require.NoError(t, err)
	signers := filepath.Join(t.TempDir(), "signers")
	require.NoError(t, os.WriteFile(signers, append([]byte("fairdoor "), public...), 0o600))
	verify := "ssh-keygen -Y verify -f " + signers + " -I fairdoor -n fairdoor -s SHA256SUMS.sig <"
	run(t, dist, nil, "sh", "-c", verify+"SHA256SUMS")
	said, err := try(dist, nil, "sh", "-c", verify+"/etc/hostname")
	assert.Error(t, err, "another list: %s", said)
}

func testFiles(t *testing.T, dist string) {
	run(t, dist, nil, "sha256sum", "--check", "--strict", "SHA256SUMS")
	version := strings.TrimSpace(run(t, repository, nil, "make", "--no-print-directory", "version"))
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		listed := run(t, dist, nil, "tar", "-tzf", one(t, dist, "*_"+platform+".tar.gz"))
		assert.Contains(t, listed, "/fairdoor\n")
		assert.Contains(t, listed, "/THIRD-PARTY-LICENSES\n")
		text, err := os.ReadFile(one(t, dist, "*_"+platform+".cdx.json"))
		require.NoError(t, err)
		var bom struct {
			Metadata   struct{ Component struct{ Version string } }
			Components []struct {
				Name, Version string
				Licenses      []struct{ Expression string }
			}
		}
		require.NoError(t, json.Unmarshal(text, &bom))
		assert.Equal(t, version, bom.Metadata.Component.Version)
		assert.Greater(t, len(bom.Components), 20)
		for _, c := range bom.Components {
			assert.NotEmpty(t, c.Licenses, c.Name)
		}
	}
	dir := t.TempDir()
	run(t, dir, nil, "tar", "-xzf", one(t, dist, "*_linux_amd64.tar.gz"), "--strip-components=1")
	assert.Contains(t, run(t, dir, nil, "file", "fairdoor"), "statically linked")
	assert.Regexp(t, "^fairdoor "+regexp.QuoteMeta(version)+" go", run(t, dir, nil, "./fairdoor", "version"))
	run(t, dir, nil, "./fairdoor", "validate", "--config", "fairdoor.yaml")
	licences, err := os.ReadFile(filepath.Join(dir, "THIRD-PARTY-LICENSES"))
	require.NoError(t, err)
	for line := range strings.Lines(run(t, dir, nil, "go", "version", "-m", "fairdoor")) {
		if fields := strings.Fields(line); fields[0] == "dep" {
			assert.Contains(t, string(licences), fields[1]+" "+fields[2]+" (")
		}
	}
}

// walk is what an operator does with the service, in a system that stops at its end.
const walk = `[Unit]
After=fairdoor.service
[Service]
Type=oneshot
StandardOutput=file:/walk.log
StandardError=file:/walk.log
ExecStart=/bin/sh -c 'exec 2>&1; systemctl is-active fairdoor; fairdoor status --ready; ls -ld /var/lib/fairdoor/; \
  pid=$$(systemctl show -p MainPID --value fairdoor); /var/lib/dpkg/info/fairdoor.postinst configure; \
  while kill -0 $$pid; do sleep 0.1; done; systemctl is-active fairdoor && fairdoor status --ready && echo succeeded; \
  systemctl reload fairdoor && echo reloaded; echo nonsense: 1 >>/etc/fairdoor/fairdoor.yaml; systemctl reload fairdoor || echo refused; \
  systemctl is-active fairdoor; systemctl stop fairdoor && systemctl show fairdoor -p Result; \
  systemctl start fairdoor || echo "not started"; journalctl -u fairdoor --no-pager'
ExecStopPost=/bin/systemctl poweroff --no-block
`

func testPackage(t *testing.T, dist string) {
	root := filepath.Join(t.TempDir(), "debian")
	run(t, ".", nil, "mmdebstrap", "--quiet", "--variant=minbase", "--include=systemd,systemd-sysv,dbus", "bookworm", root)
	run(t, ".", nil, "cp", one(t, dist, "*_amd64.deb"), filepath.Join(root, "root"))
	inside := func(args ...string) string { return run(t, ".", nil, "chroot", append([]string{root}, args...)...) }
	assert.Contains(t, inside("sh", "-c", "apt-get install -y /root/*.deb"), "systemctl enable --now fairdoor")
	for _, path := range []string{"man/man1/fairdoor-serve.1.gz", "bash-completion/completions/fairdoor", "zsh/vendor-completions/_fairdoor"} {
		assert.FileExists(t, filepath.Join(root, "usr", "share", path))
	}
	inside("systemd-analyze", "verify", "fairdoor.service", "fairdoor.socket")
	inside("systemd-analyze", "security", "--offline=true", "--threshold=20", "fairdoor.service")
	inside("systemctl", "enable", "fairdoor")
	require.NoError(t, os.WriteFile(root+"/etc/systemd/system/walk.service", []byte(walk), 0o600))
	inside("systemctl", "add-wants", "multi-user.target", "walk.service")

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	boot := exec.CommandContext(ctx, "systemd-nspawn", "--directory", root, "--private-network", "--register=no", "--keep-unit", "--boot")
	console, err := boot.CombinedOutput()
	require.NoError(t, err, "%s", console)
	log, err := os.ReadFile(filepath.Join(root, "walk.log"))
	require.NoError(t, err)
	assert.Regexp(t, `(?s)^active\nok\ndrwx------ .*\nactive\nok\nsucceeded\nreloaded\n.*\nrefused\nactive\nResult=success\n.*\nnot started\n`, string(log))
	assert.Contains(t, string(log), "nonsense: unknown key")

	inside("apt-get", "purge", "-y", "fairdoor")
	for _, path := range []string{"usr/bin/fairdoor", "etc/fairdoor/fairdoor.yaml", "var/lib/fairdoor", "var/lib/private/fairdoor"} {
		assert.NoFileExists(t, filepath.Join(root, path))
		assert.NoDirExists(t, filepath.Join(root, path))
	}
}

// manifest is what a docker archive says of its image.
type manifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func testImage(t *testing.T, dist string) {
	dir, root := t.TempDir(), t.TempDir()
	run(t, dir, nil, "tar", "-xzf", one(t, dist, "*_image_amd64.tar.gz"))
	var images []manifest
	readJSON(t, filepath.Join(dir, "manifest.json"), &images)
	require.Len(t, images, 1)
	for _, layer := range images[0].Layers {
		run(t, dir, nil, "tar", "--extract", "--preserve-permissions", "--same-owner", "--file", layer, "--directory", root)
	}
	var image struct {
		Config struct {
			User            string
			Env             []string
			Entrypoint, Cmd []string
		}
	}
	readJSON(t, filepath.Join(dir, images[0].Config), &image)
	assert.Equal(t, "65532:65532", image.Config.User)
	require.NoError(t, os.Chmod(root, 0o755))
	assert.FileExists(t, root+"/THIRD-PARTY-LICENSES")

	site, at := porttest.Address(t), stagetest.Addresses(t)
	server := &http.Server{Addr: site, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })}
	go func() { _ = server.ListenAndServe() }() // it is closed
	t.Cleanup(func() { server.Close() })
	// What a container runtime does with it: another root, another user, no environment, and a root
	// that cannot be written to.
	program := func(args ...string) *exec.Cmd {
		cmd := exec.Command(image.Config.Entrypoint[0], args...)
		cmd.Env, cmd.Dir = image.Config.Env, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		return cmd
	}
	var log bytes.Buffer
	gate := program("serve", "--origin", "http://"+site, "--total-active-users", "5", "--new-users-per-minute", "5", "--listen", at.Gate, "--admin", at.Admin)
	gate.Stderr = &log
	require.NoError(t, gate.Start())
	t.Cleanup(func() { _ = gate.Process.Kill() }) // if it has not ended
	require.Eventually(t, func() bool { return program("status", "--ready", "--admin", at.Admin).Run() == nil }, time.Minute, 100*time.Millisecond,
		"the gate gets ready")
	assert.Equal(t, "in", stagetest.Text(t, stagetest.Visitor(t), http.MethodGet, "http://"+at.Gate))
	assert.FileExists(t, root+"/var/lib/fairdoor/cookie.key")
	require.NoError(t, gate.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, gate.Wait(), "it stops when it is told to: %s", &log)
	assert.Error(t, program("status", "--ready", "--admin", at.Admin).Run(), "and is not ready any more")
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

func TestTheChartIsWhatTheManifestsAreMadeOf(t *testing.T) {
	chart := func(args ...string) (string, error) {
		return try(repository, nil, "go", append([]string{"run", helm}, args...)...)
	}
	run(t, repository, nil, "go", "run", helm, "lint", "--strict", "examples/helm")
	rendered := run(t, repository, nil, "go", "run", helm, "template", "fairdoor", "examples/helm", "--values", "examples/kubernetes/values.yaml")
	committed, err := os.ReadFile(repository + "/examples/kubernetes/fairdoor.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(committed), rendered, "make manifests")
	run(t, repository, nil, "go", "run", helm, "template", "shop", "examples/helm", "--set",
		"ingress.enabled=true,ingress.hosts[0]=shop.example.com,podMonitor.enabled=true,persistence.enabled=false,service.type=LoadBalancer")
	for _, wrong := range []string{"replicas=2", "replica=1", "service.type=Public"} {
		said, err := chart("template", "fairdoor", "examples/helm", "--set", wrong)
		assert.Error(t, err, "%s: %s", wrong, said)
	}
}

func TestPrometheusTakesTheAlertsAndTheDashboard(t *testing.T) {
	dir, err := filepath.Abs(repository + "/examples/monitoring")
	require.NoError(t, err)
	run(t, dir, nil, "promtool", "check", "config", "prometheus.yaml")
	run(t, dir, nil, "promtool", "test", "rules", "alerts_test.yaml")
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	readJSON(t, filepath.Join(dir, "dashboard.json"), &dashboard)
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for i, panel := range dashboard.Panels {
		for j, target := range panel.Targets {
			query := strings.NewReplacer("$__rate_interval", "5m", "$room", ".*", "$job", "fairdoor").Replace(target.Expr)
			rules += fmt.Sprintf("  - {record: panel:%d_%d, expr: %q}\n", i, j, query)
		}
	}
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	require.NoError(t, os.WriteFile(file, []byte(rules), 0o600))
	run(t, dir, nil, "promtool", "check", "rules", file)
}

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/docs"
)

// neighbours say of the configuration of a proxy, in a file, whether it holds.
var neighbours = map[string]struct {
	around string // what is around the block of a page, which stands at the …
	check  func(dir, file string) *exec.Cmd
}{
	"nginx": {
		"pid nginx.pid;\nevents {}\nhttp {\naccess_log off;\nclient_body_temp_path body;\nproxy_temp_path proxy;\nfastcgi_temp_path fastcgi;\nuwsgi_temp_path uwsgi;\nscgi_temp_path scgi;\n…\n}\n",
		func(dir, file string) *exec.Cmd {
			return exec.Command("nginx", "-t", "-q", "-p", dir, "-e", filepath.Join(dir, "log"), "-c", file)
		},
	},
	"caddy": {
		"{\n\tadmin off\n\tauto_https off\n}\n…",
		func(_, file string) *exec.Cmd {
			return exec.Command("caddy", "validate", "--adapter", "caddyfile", "--config", file)
		},
	},
	"haproxy": {"…", func(_, file string) *exec.Cmd { return exec.Command("haproxy", "-c", "-f", file) }},
}

func TestConfigurationsOfOtherProxiesInThePagesAreValid(t *testing.T) {
	for language, of := range neighbours {
		t.Run(language, func(t *testing.T) {
			checked := 0
			for _, page := range docs.Pages() {
				for _, block := range blocks(string(page.Markdown), language) {
					dir := t.TempDir()
					file := filepath.Join(dir, "configuration")
					require.NoError(t, os.WriteFile(file, []byte(strings.Replace(of.around, "…", block, 1)), 0o600))
					cmd := of.check(dir, file)
					cmd.Env = append(os.Environ(), "HOME="+dir)
					out, err := cmd.CombinedOutput()
					assert.NoError(t, err, "%s\n%s", out, block)
					checked++
				}
			}
			assert.Positive(t, checked)
		})
	}
}

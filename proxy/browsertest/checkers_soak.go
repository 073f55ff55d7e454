//go:build soak

package browsertest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// soakCheckers are those for which make test has no time.
func soakCheckers() []checker { return []checker{nu} }

// nu is the checker of the W3C, which is called Nu, and needs Java.
func nu(t testing.TB, dir string, fault func(page int, what string)) {
	t.Helper()
	jar := filepath.Join(Checkers(t), "node_modules", "vnu-jar", "build", "dist", "vnu.jar")
	said, err := exec.CommandContext(t.Context(), "java", "-jar", jar, "--stdout", "--exit-zero-always", "--format", "json", "--skip-non-html", dir).Output()
	require.NoError(t, err)
	var found struct {
		Messages []struct {
			URL      string `json:"url"`
			LastLine int    `json:"lastLine"`
			Message  string `json:"message"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(said, &found), "%s", said)
	for _, m := range found.Messages {
		fault(numberOf(t, m.URL), fmt.Sprintf("line %d: %s", m.LastLine, m.Message))
	}
}

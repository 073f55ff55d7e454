//go:build soak

package endtoend_test

import (
	"flag"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var previous = flag.String("previous", "", "the tag or commit of the version that gates are updated from: by default the newest tag, or the commit before this one where there is none")

// buildPrevious builds the program as it was in the previous version, and returns its path.
func buildPrevious(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	built := filepath.Join(tree, "previous")
	out, err := exec.Command("/bin/sh", "-ec", `
		root=$(git rev-parse --show-toplevel)
		version=${2:-$(git -C "$root" describe --tags --abbrev=0 2>/dev/null || echo HEAD^)}
		git -C "$root" archive --output "$1/source.tar" "$version"
		tar -xf "$1/source.tar" -C "$1"
		cd "$1"
		go build -o "$3" ./cmd/fairdoor`, "sh", tree, *previous, built).CombinedOutput()
	require.NoError(t, err, "building the version before (%s): %s", *previous, out)
	return built
}

// Gates of the version before and of this one share a Redis while visitors go from one to the other,
// as the gates are updated one by one, and as operators go back.
func TestGatesAreUpdatedAndGoBackWhilePeopleWait(t *testing.T) {
	t.Parallel()
	old := buildPrevious(t)
	l := limits{active: 5, perMinute: 100_000, session: 3 * time.Second}
	s := newNodes(t, 2, l, "--drain-delay", "500ms", "--shutdown-grace", "5s")
	for _, g := range s.gates {
		g.program = old
	}
	s.start()
	s.check(50 * time.Millisecond)
	const people = 45
	c := s.crowd()
	c.come("visitor", people, func(int) person { return person{delay: upTo(2 * time.Second), browse: upTo(3 * time.Second)} })
	s.until("a line has formed", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.joined) == people
	})
	for _, to := range []string{"", old} {
		for _, g := range s.gates {
			s.restart(g, to)
			from := s.origin.seen()
			s.until("people are served", func() bool { return s.origin.seen() > from+5 })
		}
	}
	c.mu.Lock()
	assert.Less(t, len(c.admitted), people, "people waited throughout")
	c.mu.Unlock()
	c.over()
	c.noneLost()
	admissions := judgeLimits(t, s.origin.all(), l)
	judgeOrder(t, admissions, known(c.waits), c.joined, l, nil)
	assert.Len(t, c.admitted, people)
}

package waitlist_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// childOf is the variable that has a run of the test binary sign people up in the database that it
// names.
const childOf = "WAITLIST_CHILD_OF"

// signUpUntilKilled signs people up, several at a time, and writes the address of each whose answer
// it has.
func signUpUntilKilled(name string) int {
	store, err := waitlist.Open(ctx, name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	list, err := store.List(ctx, "beta", settings(unconfirmed))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var running sync.WaitGroup
	for worker := range 4 {
		running.Go(func() {
			for i := 0; ; i++ {
				address := fmt.Sprintf("p%d.%d.%d@example.com", os.Getpid(), worker, i)
				if _, err := list.Join(ctx, waitlist.SignUp{Email: address}, start); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				fmt.Fprintln(os.Stdout, address)
			}
		})
	}
	running.Wait()
	return 1
}

// killInTheMiddle runs a child and kills it after so many answers. It returns the addresses that
// were answered.
func killInTheMiddle(t *testing.T, name string, after int) (answered []string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childOf+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what is cut off was not read as a whole
		}
		if answered = append(answered, strings.TrimSpace(line)); len(answered) == after {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait()
	require.GreaterOrEqual(t, len(answered), after, "the child ended by itself")
	return answered
}

// Invariant W4: every acknowledged sign-up exists after a crash, and none exists twice.
func TestEveryAcknowledgedSignUpSurvivesAKill(t *testing.T) {
	kills := map[string]int{"SQLite": 12, "PostgreSQL": 8}
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		var answered []string
		for range kills[t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]] {
			answered = append(answered, killInTheMiddle(t, name, 1+rand.IntN(20))...)
		}
		require.NoError(t, w.Follow(ctx))
		page, err := w.Entries(ctx, waitlist.Search{Most: 1 << 20})
		require.NoError(t, err)
		found := map[string]int{}
		for _, e := range page.Entries {
			found[e.Email]++
			assert.Equal(t, 1, found[e.Email], "%s is on the list twice", e.Email)
		}
		for _, address := range answered {
			require.Equal(t, 1, found[address], "%s was acknowledged", address)
		}
		_, total := w.Rank(0)
		assert.Equal(t, len(page.Entries), total)
	})
}

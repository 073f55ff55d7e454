package waitlist_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist/postgrestest"
)

// postgres is the server of all tests.
var postgres *postgrestest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if name := os.Getenv(childOf); name != "" {
		return signUpUntilKilled(name)
	}
	// A check takes many commits. The command line can say otherwise.
	if err := flag.Set("rapid.checks", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	if postgres, err = postgrestest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := postgres.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping PostgreSQL:", err)
		return 1
	}
	return code
}

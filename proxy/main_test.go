package proxy_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// atATime is how many tests run at a time unless -parallel says so. Those that do mostly wait, and
// need few processors.
const atATime = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atATime); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Command quickstart runs a small shop and a gate in front of it. The gate's
// flags are all that it takes to protect a site.
package main

import (
	"context"
	"io"
	"os"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, out, stage.Usual()) }))
}

func run(ctx context.Context, out io.Writer, at stage.Addresses) error {
	return stage.Run(ctx, out, at,
		"--origin", "http://"+at.Shop,
		"--total-active-users", "2",
		"--new-users-per-minute", "60",
		"--session-duration", "1m",
		"--refresh-interval", "5s",
		"--listen", at.Gate,
		"--admin", at.Admin,
	)
}

// Command custom-page runs a small shop and a gate whose waiting room has a page
// of its own.
package main

import (
	"context"
	"io"
	"os"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error {
		return run(ctx, out, stage.Usual(), "examples/custom-page/fairdoor.yaml")
	}))
}

// run takes the addresses besides the file, so that they can differ from those
// in it.
func run(ctx context.Context, out io.Writer, at stage.Addresses, file string) error {
	return stage.Run(ctx, out, at, "--config", file,
		"--origin", "http://"+at.Shop, "--listen", at.Gate, "--admin", at.Admin)
}

// Command live-room runs a chat whose rooms hold three people each, and a gate
// that keeps everybody else in an exact line.
package main

import (
	"context"
	"io"
	"os"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error {
		return run(ctx, out, stage.Usual(), "examples/live-room/fairdoor.yaml")
	}))
}

// run takes the addresses besides the file, so that they can differ from those
// in it.
func run(ctx context.Context, out io.Writer, at stage.Addresses, file string) error {
	return stage.RunSite(ctx, out, at, newChat(gate{at.Gate, "the-key-of-the-live-room"}), "--config", file,
		"--origin", "http://"+at.Shop, "--listen", at.Gate, "--admin", at.Admin)
}

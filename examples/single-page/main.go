// Command single-page runs a shop of a single page, which waits its turn in place, and a
// gate in front of it. The part to copy is shop.html.
package main

import (
	"context"
	"io"
	"os"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error {
		return run(ctx, out, stage.Usual(), "examples/single-page/fairdoor.yaml")
	}))
}

// run takes the addresses besides the file, so that they can differ from those
// in it.
func run(ctx context.Context, out io.Writer, at stage.Addresses, file string) error {
	return stage.RunSite(ctx, out, at, newShop(), "--config", file,
		"--origin", "http://"+at.Shop, "--listen", at.Gate, "--admin", at.Admin)
}

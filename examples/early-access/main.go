// Command early-access runs a small shop and a gate that lets in those who were
// invited from its waitlist.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error {
		return run(ctx, out, stage.Usual(), "examples/early-access/fairdoor.yaml")
	}))
}

// run takes the addresses besides the file, so that they can differ from those
// in it.
func run(ctx context.Context, out io.Writer, at stage.Addresses, file string) error {
	fmt.Fprintf(out, "Sign up at http://%s, and read the mails at http://%s/api/v1/waitlists/early/outbox\n", at.Gate, at.Admin)
	return stage.Run(ctx, out, at, "--config", file,
		"--origin", "http://"+at.Shop, "--listen", at.Gate, "--admin", at.Admin)
}

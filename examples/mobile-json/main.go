// Command mobile-json waits its turn as an app does: with cookies and JSON. The
// part to copy is client.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error {
		if len(os.Args) > 1 {
			return shop(ctx, out, os.Args[1])
		}
		return run(ctx, out, stage.Usual())
	}))
}

// shop asks for the offers of a shop and shows the wait.
func shop(ctx context.Context, out io.Writer, url string) error {
	app, err := newClient(func(r room, again time.Duration) {
		fmt.Fprintf(out, "In line. %s Asking again in %v.\n", describe(r), again)
	})
	if err != nil {
		return err
	}
	offers, err := app.get(ctx, url)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "In. The shop says %s\n", offers)
	return nil
}

func describe(r room) string {
	text := "How long it takes is not known."
	if r.WaitTimeKnown {
		text = "Estimated wait: " + r.WaitTimeFormatted + "."
	}
	if r.UsersAheadKnown {
		text += fmt.Sprintf(" People ahead: %d.", r.UsersAhead)
	}
	return text
}

// run sets up a shop with a single place, and two apps that want it. The first
// asks once and is silent then, so that its place is free ten seconds later.
func run(ctx context.Context, out io.Writer, at stage.Addresses) error {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- stage.Run(ctx, out, at,
			"--origin", "http://"+at.Shop,
			"--total-active-users", "1",
			"--new-users-per-minute", "60",
			"--session-duration", "10s",
			"--refresh-interval", "2s",
			"--log-level", "warn",
			"--listen", at.Gate,
			"--admin", at.Admin,
		)
		stop()
	}()
	err := ready(ctx, "http://"+at.Admin+"/readyz")
	for _, name := range []string{"First app", "Second app"} {
		if err == nil {
			fmt.Fprintf(out, "%s:\n", name)
			err = shop(ctx, out, "http://"+at.Gate+"/api/offers")
		}
	}
	stop()
	if gateErr := <-ended; gateErr != nil {
		return gateErr
	}
	return err
}

// ready waits until the gate is.
func ready(ctx context.Context, url string) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		if answer, err := http.Get(url); err == nil {
			if err := answer.Body.Close(); err == nil && answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.New("the gate did not get ready")
		}
	}
}

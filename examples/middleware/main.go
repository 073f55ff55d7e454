// Command middleware is a small shop that has the gate within its own process, around its own
// handler.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, out, stage.Usual()) }))
}

// newGate puts a gate around a site.
func newGate(ctx context.Context, site http.Handler) (*proxy.Gate, error) {
	key, err := cookie.ParseKey(cookie.NewKey()) // a real site keeps its key: without it, a restart forgets everybody's place
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return proxy.New(ctx, proxy.Config{
		Handler: site,
		Keys:    []cookie.Key{key},
		Rooms: []proxy.RoomConfig{{
			Name:   "shop",
			Routes: []route.Route{{Path: "/"}},
			Basics: config.Basics{
				JSON:     true,
				Commands: []string{"revoke"}, // the shop's Fairdoor-Command: revoke gives a slot back
			},
			Settings: queue.Settings{
				TotalActiveUsers: 2, NewUsersPerMinute: 60, SessionDuration: time.Minute, RefreshInterval: 5 * time.Second,
			},
		}},
	}, proxy.Options{Store: memstore.New()})
}

// run serves the shop until ctx ends.
func run(ctx context.Context, out io.Writer, at stage.Addresses) error {
	gate, err := newGate(ctx, stage.Shop())
	if err != nil {
		return err
	}
	defer gate.Close()
	return stage.WithSite(at.Admin, gate.Admin(), func() error {
		shop := &http.Server{Addr: at.Gate, Handler: gate, ReadHeaderTimeout: 5 * time.Second}
		closing := context.AfterFunc(ctx, func() { _ = shop.Close() })
		defer closing()
		fmt.Fprintf(out, "Open http://%s. Ctrl-C stops it.\n", at.Gate)
		if err := shop.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving the shop: %w", err)
		}
		return nil
	})
}

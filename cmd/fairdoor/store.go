package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// inProcess is the name of the store that is not shared.
const inProcess = "memory"

// storeName says which store it is, without a secret: memory, or the servers of a Redis.
func storeName(name string) string {
	if name == inProcess {
		return name
	}
	return strings.Join(redisstore.Servers(name), ",")
}

// openEmbedded opens the store that is not shared.
func openEmbedded(st *state, log *zap.Logger) (queue.Store, error) {
	return memstore.Config{Dir: st.dir, SinceBoot: sinceBoot, OnLoss: logLoss(log, st.dir)}.Open()
}

// openShared opens the Redis at a URL. Without one there is no shared store: nil.
func openShared(ctx context.Context, name string, log *zap.Logger) (queue.Store, error) {
	if name == inProcess {
		return nil, nil
	}
	redis.SetLogger(clientLog{log})
	store, warnings, err := redisstore.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	for _, w := range warnings {
		log.Warn("store", zap.String("warning", w))
	}
	return store, nil
}

// waitlistRecord returns a function that opens the record of the waitlists.
func waitlistRecord(c *config.Config) func(context.Context) (*waitlist.Store, error) {
	name := cmp.Or(c.Database, filepath.Join(c.StateDir, "waitlists.db"))
	return func(ctx context.Context) (*waitlist.Store, error) {
		store, err := waitlist.Open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("opening the record of the waitlists (set database to choose another): %w", err)
		}
		return store, nil
	}
}

// logLoss returns the function that the embedded store calls for a journal that is not whole.
func logLoss(log *zap.Logger, dir string) func(room string, reason error) {
	return func(room string, reason error) {
		log.Error("the journal of a room is lost or damaged: nobody new is let in for one session_duration, "+
			"and changes made by the admin API may be lost; nothing is to be done but to look after the disk",
			zap.String("room", room), zap.String("state_dir", dir), zap.Error(reason))
	}
}

// clientLog is the log of the Redis client, which logs each attempt that fails. The gate
// itself logs when the store stops answering and when it answers again.
type clientLog struct{ log *zap.Logger }

// Printf implements the client's logging.
func (c clientLog) Printf(_ context.Context, format string, values ...any) {
	c.log.Debug("store's client", zap.String("said", fmt.Sprintf(format, values...)))
}

// pace sets how often a gate calls the store. A gate calls a store in its own process
// without limit. It syncs with a shared store once a second, and gathers the claims of a
// moment into one call.
func pace(store string, o proxy.Options) proxy.Options {
	if store != inProcess {
		o.SyncInterval, o.Gather, o.Slack = time.Second, redisstore.Gather, redisstore.Slack
	}
	return o
}

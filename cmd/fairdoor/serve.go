package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
)

const serveExample = `  fairdoor serve --origin http://localhost:3000 --total-active-users 500 --new-users-per-minute 300
  fairdoor serve --config fairdoor.yaml`

func newServeCommand() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Stand in front of a site",
		Long: `Stand in front of a site and let in no more people than it can serve.

Flags go before environment variables (FAIRDOOR_ and the flag in capitals, with _
for -), which go before the file. SIGHUP reads the configuration again and keeps
the old one if the new one is faulty; files with networks are read again by
themselves. SIGUSR2 starts the program that there is now in this one's place, and
refuses no connection meanwhile. SIGTERM makes /readyz say 503, waits for
--drain-delay, lets requests finish and stops.`,
		Example: serveExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), newSources(file, cmd.Flags()), cmd.ErrOrStderr())
		},
	}
	configFlag(cmd, &file)
	config.BindFlags(cmd.Flags())
	return cmd
}

// configFlag adds the flag that names the configuration file.
func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", os.Getenv("FAIRDOOR_CONFIG"), "configuration file (YAML; env FAIRDOOR_CONFIG)")
	cmd.Flag("config").DefValue = ""
}

// serve runs a gate until ctx ends.
func serve(ctx context.Context, from *sources, stderr io.Writer) error {
	c, warnings, err := from.load()
	if err != nil {
		printWarnings(stderr, warnings)
		return err
	}
	log, err := newLog(c.Log, stderr)
	if err != nil {
		return err
	}
	logWarnings(log, warnings)
	defer collectLess()()
	log.Info("starting", zap.String("version", releaseName()), zap.Int("pid", os.Getpid()), zap.String("config", from.options.File), zap.String("store", storeName(c.Store)),
		zap.Int64("memory_limit_mib", limitMemory(log)>>20))

	predecessor, err := inherit()
	if err != nil {
		return err
	}
	told := signals{make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(told.hangup, syscall.SIGHUP) // before anyone can know that the gate is there
	defer signal.Stop(told.hangup)
	signal.Notify(told.succession, succession)
	defer signal.Stop(told.succession)
	listeners, err := predecessor.listen(c)
	if err != nil {
		return err
	}
	defer closeListeners(listeners)
	store, err := openShared(ctx, c.Store, log)
	if err != nil {
		return err
	}
	var st *state
	release := sync.OnceFunc(func() {
		if store != nil {
			closing(log, "store", store.Close)
		}
		if st != nil {
			closing(log, "state directory", st.close)
		}
	})
	defer release()
	if err := predecessor.say(isWaiting); err != nil {
		return err
	}
	if st, err = openState(c.StateDir, predecessor.tell != nil); err != nil {
		return err
	}
	gate, err := st.gateConfig(c)
	if err != nil {
		return err
	}
	if store == nil {
		if store, err = openEmbedded(st, log); err != nil {
			return err
		}
	}
	s, err := startServer(ctx, c, gate, listeners, store, record.Open(c.StateDir, time.Now(), log), log)
	if err != nil {
		return err
	}
	if err := predecessor.say(isReady); err != nil {
		return errors.Join(err, s.stop())
	}
	from.putInForce()
	return s.run(ctx, told, func() { s.reload(ctx, from, st) }, func() { s.renew(ctx, from, st) }, release)
}

func closing(log *zap.Logger, what string, closer func() error) {
	if err := closer(); err != nil {
		log.Error("closing failed", zap.String("what", what), zap.Error(err))
	}
}

func logWarnings(log *zap.Logger, warnings []config.Warning) {
	for _, w := range warnings {
		log.Warn("configuration", zap.String("at", w.Position.String()), zap.String("warning", w.Message))
	}
}

func printWarnings(w io.Writer, warnings []config.Warning) {
	for _, warning := range warnings {
		fmt.Fprintf(w, "%s (warning)\n", warning)
	}
}

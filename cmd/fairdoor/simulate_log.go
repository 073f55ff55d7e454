package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/accesslog"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// readLogs makes the visitors of the access logs those of the simulation, if there are any
// logs. Limits that are not given become those at which nobody waits.
func (o *simulateOptions) readLogs(cmd *cobra.Command) (*accesslog.Log, error) {
	if len(o.logs) == 0 {
		return nil, nil
	}
	flags, room := cmd.Flags(), &o.config.Room
	for _, name := range []string{"visitors", "arrivals", "over", "browse"} {
		if flags.Changed(name) {
			return nil, usageError{fmt.Errorf("--%s and --access-log do not go together: the log says who comes", name)}
		}
	}
	if !flags.Changed("session-duration") {
		room.SessionDuration = queue.Settings{}.WithDefaults().SessionDuration
	}
	held, err := o.visitsOf(cmd.InOrStdin(), *room)
	if err != nil {
		return nil, err
	}
	if held.Visits == 0 {
		return nil, errors.Join(errors.New("--access-log: there are no visitors in it"), held.WriteSummary(cmd.ErrOrStderr(), *room))
	}
	if !flags.Changed("total-active-users") {
		room.TotalActiveUsers = held.Active.Count
	}
	if !flags.Changed("new-users-per-minute") {
		room.NewUsersPerMinute = held.PerMinute.Count
	}
	o.config = o.config.Replay(held.Stays)
	if days := held.Until.Sub(held.From).Hours() / 24; o.config.Over > 30*24*time.Hour {
		return nil, fmt.Errorf("--access-log: it has visitors from %s to %s, %.0f days: give at most 30 days of it",
			held.From.Format(time.DateOnly), held.Until.Format(time.DateOnly), days)
	}
	return held, nil
}

// visitsOf reads the logs.
func (o *simulateOptions) visitsOf(stdin io.Reader, s queue.Settings) (*accesslog.Log, error) {
	reader, err := accesslog.NewReader(s)
	if err != nil {
		return nil, err
	}
	for _, name := range o.logs {
		if err := readLog(reader, name, stdin); err != nil {
			return nil, fmt.Errorf("--access-log: %w", err)
		}
	}
	return reader.Log(), nil
}

func readLog(reader *accesslog.Reader, name string, stdin io.Reader) error {
	if name == "-" {
		return reader.Read("standard input", stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(reader.Read(name, file), file.Close())
}

// writeSummaries writes what the access logs held, if there are any, and what became of the
// crowd.
func writeSummaries(w io.Writer, held *accesslog.Log, c simulate.Config, results []*simulate.Result) error {
	if held != nil {
		if err := held.WriteSummary(w, c.Room); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return simulate.WriteSummary(w, c, results)
}

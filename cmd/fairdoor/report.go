package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/report"
)

// reportOptions are what a report is asked for.
type reportOptions struct {
	room, event, day, from, to, timezone string
	stateDirs, admins                    []string
	token                                adminFlags
	format, out                          string

	now  time.Time
	warn io.Writer
}

func newReportCommand() *cobra.Command {
	o := reportOptions{}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report of a room's day, or of an event",
		Long: `Report of a room's day, of an event, or of another time: who waited for how long, what came of what they were told,
how the limits were used, what was refused, what failed, and who changed what.

It is made of the records that gates keep for 14 days: ask a gate that runs with
--admin, or read its state directory with --state-dir. Each may be given more
than once, where several gates share a store: what each gate has done is added up.`,
		Example: `  fairdoor report --room shop -o today.html
  fairdoor report --room shop --day 2026-11-22 --timezone Europe/Berlin -o report.html
  fairdoor report --room shop --event winter-sale -o winter-sale.html
  fairdoor report --room shop --from 2026-11-22T18:00 --to 2026-11-22T21:00 --format json
  fairdoor report --room shop --admin 10.0.0.5:9090 --admin 10.0.0.6:9090 -o report.html
  fairdoor report --room shop --state-dir /var/lib/fairdoor --day 2026-11-22 -o report.html`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.now, o.warn = time.Now(), cmd.ErrOrStderr()
			return o.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.room, "room", "", "name of the room; may be left out where there is one")
	f.StringVar(&o.event, "event", "", "instead of a day: an event of the room, which the first gate is asked for")
	f.StringVar(&o.day, "day", "", "day of the report, as in 2026-11-22 (default today)")
	f.StringVar(&o.from, "from", "", "instead of a day: the begin, as in 2026-11-22T18:00, or with a zone in 2026-11-22T18:00:00Z")
	f.StringVar(&o.to, "to", "", "the end (default now)")
	f.StringVar(&o.timezone, "timezone", "Local", "time zone of days and times, as in Europe/Berlin; Local is this machine's")
	f.StringArrayVar(&o.stateDirs, "state-dir", nil, "state directory of a gate; may be given more than once")
	f.StringArrayVar(&o.admins, "admin", nil, "address of a gate's admin API; may be given more than once (default "+client.DefaultAddress+", env FAIRDOOR_ADMIN)")
	o.token.bindToken(f)
	f.StringVar(&o.format, "format", "html", "html or json")
	takesOneOf(f, "format", "html", "json")
	gate := func() *adminFlags {
		flags := o.token
		flags.address = o.gates()[0]
		return &flags
	}
	completeRoom(cmd, gate)
	_ = cmd.RegisterFlagCompletionFunc("event", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return named(cmd, gate(), "rooms", o.room, "events"), cobra.ShellCompDirectiveNoFileComp
	})
	f.StringVarP(&o.out, "output", "o", "", "file to write (default the standard output)")
	return cmd
}

func (o *reportOptions) run(cmd *cobra.Command) error {
	c := report.Config{Now: o.now}
	var err error
	if c.Zone, err = time.LoadLocation(o.timezone); err != nil || o.timezone == "" {
		return usageError{fmt.Errorf("--timezone: %q is not a time zone, such as Europe/Berlin or UTC", o.timezone)}
	}
	if o.event == "" {
		if c.From, c.To, err = o.times(c.Zone); err != nil {
			return usageError{err}
		}
	} else if c.From, c.To, err = o.timesOfEvent(cmd); err != nil {
		return err
	}
	c.Event = o.event
	if c.Room, c.Gates, err = o.read(cmd, c.From, c.To); err != nil {
		return err
	}
	if len(record.Merge(c.Gates...).Minutes) == 0 {
		return fmt.Errorf("there is no record of room %q from %s to %s", c.Room, c.From.Format(time.RFC3339), c.To.Format(time.RFC3339))
	}
	return o.write(cmd.OutOrStdout(), report.Make(c))
}

// write writes the report where it was asked for, as a whole or not at all.
func (o *reportOptions) write(stdout io.Writer, r *report.Report) error {
	var text bytes.Buffer
	write := r.WriteHTML
	if o.format == "json" {
		write = r.WriteJSON
	}
	if err := write(&text); err != nil {
		return err
	}
	if o.out != "" {
		return os.WriteFile(o.out, text.Bytes(), 0o644)
	}
	_, err := stdout.Write(text.Bytes())
	return err
}

// times are the begin and the end of the report.
func (o *reportOptions) times(zone *time.Location) (from, to time.Time, err error) {
	switch {
	case o.day != "" && (o.from != "" || o.to != ""):
		return from, to, errors.New("--day goes without --from and --to")
	case o.from == "" && o.to != "":
		return from, to, errors.New("--to goes with --from")
	case o.from == "":
		return o.wholeDay(zone)
	}
	if from, err = parseTime("--from", o.from, zone); err != nil {
		return from, to, err
	}
	to = o.now
	if o.to != "" {
		if to, err = parseTime("--to", o.to, zone); err != nil {
			return from, to, err
		}
	}
	switch {
	case !from.Before(to):
		return from, to, fmt.Errorf("--from (%s) is not before --to (%s)", from.In(zone).Format(time.RFC3339), to.In(zone).Format(time.RFC3339))
	case to.Sub(from) > record.Days*24*time.Hour:
		return from, to, fmt.Errorf("--from and --to are more than %d days apart, for which gates keep records", record.Days)
	}
	return from, to, nil
}

// timesOfEvent are the begin and the end of the event, as a gate has it. It names the room if there is
// but one.
func (o *reportOptions) timesOfEvent(cmd *cobra.Command) (from, to time.Time, err error) {
	switch {
	case o.day != "" || o.from != "" || o.to != "":
		return from, to, usageError{errors.New("--event goes without --day, --from and --to")}
	case o.stateDirs != nil && o.admins == nil:
		return from, to, usageError{errors.New("a state directory has no events: name a running gate beside it with --admin, or the times with --from and --to")}
	}
	flags := o.token
	flags.address = o.gates()[0]
	api, err := flags.api(cmd)
	if err != nil {
		return from, to, err
	}
	if o.room == "" {
		if o.room, _, err = o.readAll(cmd.Context(), []source{runningGate{api}}, from, to); err != nil {
			return from, to, err
		}
	}
	events, err := client.Get[[]admin.EventJSON](cmd.Context(), api, client.Path("rooms", o.room, "events"))
	if err != nil {
		return from, to, err
	}
	var names []string
	for _, e := range events {
		if e.Name == o.event && !e.Begin().Before(o.now) {
			return from, to, fmt.Errorf("the event %q begins at %s: there is nothing to report yet", e.Name, e.Begin().Format(time.RFC3339))
		}
		if e.Name == o.event {
			return e.Begin(), e.End, nil
		}
		names = append(names, e.Name)
	}
	return from, to, fmt.Errorf("room %q has no event %q%s", o.room, o.event, cmp.Or(didYouMean(o.event, names), "; it has "+cmp.Or(strings.Join(names, ", "), "none")))
}

// wholeDay is from midnight to midnight, by the clock on the wall.
func (o *reportOptions) wholeDay(zone *time.Location) (from, to time.Time, err error) {
	at := o.now.In(zone)
	if o.day != "" {
		if at, err = time.ParseInLocation(time.DateOnly, o.day, zone); err != nil {
			return from, to, fmt.Errorf("--day: %q is not a day, as in 2026-11-22", o.day)
		}
	}
	y, m, d := at.Date()
	from, to = time.Date(y, m, d, 0, 0, 0, 0, zone), time.Date(y, m, d+1, 0, 0, 0, 0, zone)
	if from.After(o.now) {
		return from, to, fmt.Errorf("--day: %s has not come yet", o.day)
	}
	return from, to, nil
}

// parseTime reads a time with a zone, or by the clock on the wall in the given one.
func parseTime(flag, text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: %q is not a time, as in 2026-11-22T18:00 or 2026-11-22T18:00:00Z", flag, text)
}

// read reads what each gate has of the room, and says which room that is.
func (o *reportOptions) read(cmd *cobra.Command, from, to time.Time) (room string, gates []record.Excerpt, err error) {
	var sources []source
	for _, dir := range o.stateDirs {
		s, err := readStateDir(dir, from, to, o.warn)
		if err != nil {
			return "", nil, err
		}
		sources = append(sources, s)
	}
	running := o.admins
	if o.stateDirs == nil {
		running = o.gates()
	}
	for _, address := range running {
		flags := o.token
		flags.address = address
		api, err := flags.api(cmd)
		if err != nil {
			return "", nil, err
		}
		sources = append(sources, runningGate{api})
	}
	return o.readAll(cmd.Context(), sources, from, to)
}

// gates are the addresses of the running gates that are asked; the usual one where none is named.
func (o *reportOptions) gates() []string {
	if o.admins != nil {
		return o.admins
	}
	return []string{cmp.Or(os.Getenv("FAIRDOOR_ADMIN"), client.DefaultAddress)}
}

// source is the record of a gate.
type source interface {
	// rooms are the names of the rooms and families that it may know.
	rooms(ctx context.Context) ([]string, error)
	// excerpt is what it has of a room in a time; found is false if it knows of no such room.
	excerpt(ctx context.Context, room string, from, to time.Time) (e record.Excerpt, found bool, err error)
}

func (o *reportOptions) readAll(ctx context.Context, sources []source, from, to time.Time) (room string, gates []record.Excerpt, err error) {
	names := map[string]bool{}
	for _, s := range sources {
		rooms, err := s.rooms(ctx)
		if err != nil {
			return "", nil, err
		}
		for _, name := range rooms {
			names[name] = true
		}
	}
	room, all := o.room, slices.Sorted(maps.Keys(names))
	if room == "" {
		if len(all) != 1 {
			return "", nil, usageError{fmt.Errorf("say which room with --room: %s", cmp.Or(strings.Join(all, ", "), "there is a record of none at that time"))}
		}
		room = all[0]
	}
	known := false
	for _, s := range sources {
		e, found, err := s.excerpt(ctx, room, from, to)
		if err != nil {
			return "", nil, err
		}
		gates, known = append(gates, e), known || found
	}
	if !known {
		return "", nil, noRoom(room, all)
	}
	return room, gates, nil
}

func noRoom(room string, all []string) error {
	if hint := didYouMean(room, all); hint != "" {
		return fmt.Errorf("there is no record of a room %q at that time%s", room, hint)
	}
	if len(all) == 0 {
		return errors.New("there is no record of any room at that time")
	}
	return fmt.Errorf("there is no record of a room %q at that time; there is one of %s", room, strings.Join(all, ", "))
}

// stateDir is the record in a state directory.
type stateDir map[string]*record.Excerpt

func readStateDir(dir string, from, to time.Time, warn io.Writer) (stateDir, error) {
	rooms, warnings, err := record.Read(dir, from, to)
	for _, w := range warnings {
		fmt.Fprintln(warn, "warning:", w)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no record in %s: is it the state directory of a gate? %w", dir, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the record in %s belongs to somebody else: ask as the user of the gate, or ask the gate itself with --admin: %w", dir, err)
	}
	return rooms, err
}

func (d stateDir) rooms(context.Context) ([]string, error) {
	var names []string
	for name, e := range d {
		if len(e.Minutes) > 0 { // a room of a family has changes only
			names = append(names, name)
		}
	}
	return names, nil
}

func (d stateDir) excerpt(_ context.Context, room string, _, _ time.Time) (record.Excerpt, bool, error) {
	return record.Of(d, room), d[room] != nil, nil
}

// runningGate is the record of a gate that runs.
type runningGate struct{ client.API }

func (g runningGate) rooms(ctx context.Context) ([]string, error) {
	rooms, err := client.Get[[]admin.RoomJSON](ctx, g.API, client.Path("rooms"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range rooms {
		family, _, _ := strings.Cut(r.Name, ".")
		names = append(names, family)
	}
	return names, nil
}

// askAtATime is how much of the record a gate tells at a time.
const askAtATime = 24 * time.Hour

func (g runningGate) excerpt(ctx context.Context, room string, from, to time.Time) (all record.Excerpt, found bool, err error) {
	for ; from.Before(to); from = from.Add(askAtATime) {
		until := from.Add(askAtATime)
		if to.Before(until) {
			until = to
		}
		query := url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {until.Format(time.RFC3339Nano)}}
		part, err := client.Get[record.Excerpt](ctx, g.API, client.Path("rooms", room, "record")+"?"+query.Encode())
		if errors.Is(err, client.ErrNotFound) {
			return all, false, nil
		}
		if err != nil {
			return all, false, fmt.Errorf("%s: %w", g.URL, err)
		}
		all.Minutes, all.Changes = append(all.Minutes, part.Minutes...), append(all.Changes, part.Changes...)
	}
	return all, true, nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/accesslog"
	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/load"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// loadOptions are the flags of fairdoor load.
type loadOptions struct {
	config       load.Config
	admin        adminFlags
	room         string
	originListen string
	originLog    string
	thresholds   []load.Threshold
	json         bool
}

func newLoadCommand() *cobra.Command {
	o := &loadOptions{config: load.Config{Crowd: simulate.Article(), PageView: 5 * time.Second, Connections: 64}}
	c := &o.config.Crowd
	c.Visitors, c.Over, c.Browse = 200, time.Minute, 30*time.Second
	c.Room = queue.Settings{}.WithDefaults()
	c.Room.ConfirmWithin = time.Minute
	cmd := &cobra.Command{
		Use:   "load URL",
		Short: "Send a crowd with cookies at a gate of yours",
		Long: `Send a crowd with cookies at a gate of yours, in real time, and judge what
becomes of it: whether the limits hold by what the origin sees, how long people wait
against what they are told, and in what order they get in.

The gate has to be at a loopback address, because a crowd is an attack on the sites of
others; or at a host of yours, and --token is a token of yours: the gate says its SHA-256
by load_token, or the host serves that at ` + load.ConsentPath + `. Ctrl-C ends it with the
figures of what there was until then. Exit code 1 says that a threshold does not hold.

Metrics for --threshold: ` + folded(load.Metrics()),
		Example: `  fairdoor load http://127.0.0.1:8080/ --visitors 300 --over 30s
  fairdoor load http://127.0.0.1:8080/ --room shop --origin-listen 127.0.0.1:3000 \
      --threshold 'wait_p95<2m' --threshold 'errors<0.1%'`,
		Args: oneURL,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.bind(cmd.Flags())
	completeRoom(cmd, func() *adminFlags { return &o.admin })
	return cmd
}

// folded lists names in lines that are short enough for a terminal, after a few words in the
// first.
func folded(names []string) string {
	const most, words = 80, 25
	var list strings.Builder
	length := words
	for _, name := range names {
		if length += len(", ") + len(name); length > most {
			list.WriteString(",\n")
			length = len(name)
		} else if list.Len() > 0 {
			list.WriteString(", ")
		}
		list.WriteString(name)
	}
	return list.String()
}

// oneURL asks for the address of the gate.
func oneURL(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes one argument, the address of the gate, such as http://127.0.0.1:8080/", cmd.CommandPath())}
	}
	return nil
}

func (o *loadOptions) bind(f *pflag.FlagSet) {
	c := &o.config
	s := &c.Crowd.Room
	f.SortFlags = false
	bindCrowd(f, &c.Crowd)
	f.DurationVar(&c.PageView, "page-view", c.PageView, "time between two requests of people who are in, ± a half")
	f.StringVar(&c.Host, "host", "", "host of the requests, where the room is not on that of the URL")
	f.StringVar(&c.Token, "token", "", "secret that says that the host is yours, if it is not this machine: see above")
	f.IntVar(&c.Connections, "connections", c.Connections, "requests at a time")
	f.StringVar(&o.originListen, "origin-listen", "", "be the origin, at this address, and take down what it sees: the gate's origin has to be there")
	f.StringVar(&o.originLog, "origin-log", "", "access log of the origin, of which the lines are read that the crowd adds to it")
	f.StringVar(&o.room, "room", "", "the room's name: its limits and lengths are those that the admin API tells, and have to hold")
	o.admin.bind(f)
	f.IntVar(&s.TotalActiveUsers, "total-active-users", 0, "the room's limit, which has to hold, without --room")
	f.IntVar(&s.NewUsersPerMinute, "new-users-per-minute", 0, "the room's limit, which has to hold, without --room")
	f.DurationVar(&s.SessionDuration, "session-duration", s.SessionDuration, "as the room has it, without --room")
	f.DurationVar(&s.ConfirmWithin, "confirm-within", s.ConfirmWithin, "as the room has it, without --room")
	f.BoolVar(&s.DisableSessionRenewal, "disable-session-renewal", false, "as the room has it, without --room")
	f.Var(textsOf("threshold", &o.thresholds), "threshold", "what has to hold, such as 'wait_p95<2m', 'errors<0.1%' or 'overtaken<=20'; several may be given")
	f.BoolVar(&o.json, "json", false, "write JSON instead of text")
}

// errThreshold says that a threshold does not hold, which the report has told.
var errThreshold = errors.New("a threshold does not hold")

func (o *loadOptions) run(cmd *cobra.Command, at string) error {
	gate, err := url.Parse(at)
	if err != nil {
		return usageError{fmt.Errorf("%q is no URL: %w", at, err)}
	}
	o.config.Gate = gate
	if err := o.watchOrigin(); err != nil {
		return err
	}
	if err := o.learnLimits(cmd); err != nil {
		return err
	}
	o.config.Thresholds = append(o.limits(), o.thresholds...)
	if err := errors.Join(flagFaults(o.config.Validate())...); err != nil {
		return usageError{err}
	}
	stop, err := o.serveOrigin(cmd.Context())
	if err != nil {
		return err
	}
	defer stop()
	report, err := o.send(cmd)
	if err != nil {
		return err
	}
	if err := o.write(cmd, report); err != nil {
		return err
	}
	if !report.Passed {
		return errThreshold
	}
	return nil
}

// learnLimits asks the admin API how the room is configured, if the room is named.
func (o *loadOptions) learnLimits(cmd *cobra.Command) error {
	if o.room == "" {
		return nil
	}
	for _, name := range []string{"total-active-users", "new-users-per-minute", "session-duration", "confirm-within", "disable-session-renewal"} {
		if cmd.Flags().Changed(name) {
			return usageError{fmt.Errorf("--%s and --room do not go together: the admin API tells", name)}
		}
	}
	api, err := o.admin.api(cmd)
	if err != nil {
		return err
	}
	room, err := client.Get[admin.RoomJSON](cmd.Context(), api, client.Path("rooms", o.room))
	if err != nil {
		return fmt.Errorf("asking about the room %s: %w", o.room, err)
	}
	o.config.Crowd.Room = room.Settings
	if o.config.Token != "" { // whose host has consented
		return nil
	}
	if err := checkOrigin(cmd.Context(), room.Origin); err != nil {
		return usageError{fmt.Errorf("--room %s: %w", o.room, err)}
	}
	return nil
}

// checkOrigin refuses an origin in public: the crowd would come to the site of others by way of the
// gate. A name that is not known here is one of the gate's own network, such as that of a
// container.
func checkOrigin(ctx context.Context, origin string) error {
	at, err := url.Parse(origin)
	if err != nil {
		return fmt.Errorf("its origin is no URL: %w", err)
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Hostname())
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	for _, addr := range addrs {
		if addr = addr.Unmap(); !addr.IsLoopback() && !addr.IsPrivate() && !addr.IsLinkLocalUnicast() && !addr.IsUnspecified() {
			return fmt.Errorf("its origin %s is at the public address %s: what is let in would reach it", at.Host, addr)
		}
	}
	return nil
}

// watchOrigin prepares to learn what the origin sees, if the flags say how.
func (o *loadOptions) watchOrigin() error {
	switch {
	case o.originListen != "" && o.originLog != "":
		return usageError{errors.New("--origin-listen and --origin-log do not go together: one of them is enough")}
	case o.originListen == "" && o.originLog == "":
		return nil
	}
	o.config.Origin = new(load.Origin)
	if o.originLog == "" {
		return nil
	}
	before, err := os.Stat(o.originLog)
	if err != nil {
		return usageError{fmt.Errorf("--origin-log: %w", err)}
	}
	o.config.Gather = func() error { return o.readOriginLog(before.Size()) }
	return nil
}

// inexact is by how much times in access logs may be wrong either way: most are whole seconds.
const inexact = time.Second

// readOriginLog tells the origin what its access log has from a place on.
func (o *loadOptions) readOriginLog(from int64) error {
	file, err := os.Open(o.originLog)
	if err != nil {
		return fmt.Errorf("--origin-log: %w", err)
	}
	_, err = file.Seek(from, io.SeekStart)
	if err == nil {
		err = accesslog.Scan(file, func(_ int, l accesslog.Line, fault error) {
			if fault == nil {
				o.config.Origin.Saw(l.UserAgent, l.At.Add(-inexact), l.At.Add(inexact))
			}
		})
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--origin-log: %w", err)
	}
	return nil
}

// limits are the thresholds that follow from the limits that are known.
func (o *loadOptions) limits() []load.Threshold {
	var list []load.Threshold
	if o.config.Origin == nil {
		return nil
	}
	for _, known := range []struct {
		metric string
		limit  int
	}{{"active", o.config.Crowd.Room.TotalActiveUsers}, {"admitted_per_minute", o.config.Crowd.Room.NewUsersPerMinute}} {
		var t load.Threshold
		if known.limit > 0 && t.UnmarshalText(fmt.Appendf(nil, "%s<=%d", known.metric, known.limit)) == nil {
			list = append(list, t)
		}
	}
	return list
}

// serveOrigin is the origin until stop is called, if the flags ask for that.
func (o *loadOptions) serveOrigin(ctx context.Context) (stop func(), err error) {
	if o.originListen == "" {
		return func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.originListen)
	if err != nil {
		return nil, fmt.Errorf("--origin-listen: %w", err)
	}
	server := &http.Server{Handler: o.config.Origin, ReadHeaderTimeout: 5 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // if it fails, requests do, which the report tells
	return func() {
		_ = server.Close()
		serving.Wait()
	}, nil
}

// send sends the crowd, with a bar on a terminal.
func (o *loadOptions) send(cmd *cobra.Command) (*load.Report, error) {
	bar := startProgress(cmd.ErrOrStderr(), 1)
	defer bar.stop()
	o.config.Progress = bar.part(0)
	return load.Run(cmd.Context(), o.config)
}

func (o *loadOptions) write(cmd *cobra.Command, report *load.Report) error {
	if !o.json {
		return report.Write(cmd.OutOrStdout())
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(report)
}

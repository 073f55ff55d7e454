package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/accesslog"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// simulateOptions are the flags of fairdoor simulate.
type simulateOptions struct {
	config     simulate.Config
	experiment string
	methods    []string
	heatmap    string
	points     string
	logs       []string
	json       bool
}

func newSimulateCommand() *cobra.Command {
	o := &simulateOptions{config: simulate.Article()}
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Send a crowd through a room in virtual time",
		Long: `Send a crowd through a room in virtual time, with the queue that the gate runs,
and see what becomes of it: how long people wait, in what order they get in,
whether slots stay empty, and whether the waits that are shown come true.

As it stands it is the experiment of the 2021 design article that the queue
follows: 10,000 people over 30 minutes who browse for about a minute. The same
seed gives the same figures.`,
		Example: `  fairdoor simulate
  fairdoor simulate --experiment spoofed --heatmap pictures
  fairdoor simulate --queueing-method fifo --give-up 50% --json
  fairdoor simulate --visitors 1000000 --total-active-users 75000 --new-users-per-minute 25000
  fairdoor simulate --nodes 20 --store-latency 2ms --node-deaths 3 --store-failures 2`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.bind(cmd.Flags())
	return cmd
}

func (o *simulateOptions) bind(f *pflag.FlagSet) {
	c := &o.config
	f.SortFlags = false
	f.StringVar(&o.experiment, "experiment", "uniform",
		"uniform, or spoofed: everyone joins an empty room at once, with an arrival time in the past")
	f.StringSliceVar(&o.methods, "queueing-method", []string{"fifo", "random"}, "fifo, random, line, passthrough, reject; several are compared")
	bindCrowd(f, c)
	f.IntVar(&c.Room.TotalActiveUsers, "total-active-users", c.Room.TotalActiveUsers, "sessions at a time")
	f.IntVar(&c.Room.NewUsersPerMinute, "new-users-per-minute", c.Room.NewUsersPerMinute, "people let in in a calendar minute")
	f.DurationVar(&c.Room.SessionDuration, "session-duration", c.Room.SessionDuration, "how long a session outlives its last request")
	f.DurationVar(&c.Room.ConfirmWithin, "confirm-within", c.Room.ConfirmWithin, "how long a newcomer's session lasts until their ticket comes back; 0s for a whole session")
	f.DurationVar(&c.Room.RefreshInterval, "refresh-interval", c.Room.RefreshInterval, "time between check-ins near the head")
	f.DurationVar(&c.Room.RefreshIntervalMax, "refresh-interval-max", c.Room.RefreshIntervalMax, "time between check-ins far from it, at most")
	f.Float64Var(&c.Room.RefreshJitter, "refresh-jitter", c.Room.RefreshJitter, "± this part of it, drawn anew for every check-in")
	f.DurationVar(&c.Room.Bucket, "bucket", c.Room.Bucket, "arrival times are rounded down to this")
	f.TextVar(&c.Room.Pacing, "pacing", c.Room.Pacing, "how a minute's allowance is released: "+strings.Join(c.Room.Pacing.Choices(), ", "))
	takesOneOf(f, "pacing", c.Room.Pacing.Choices()...)
	f.DurationVar(&c.Room.QueueTicketTTL, "queue-ticket-ttl", c.Room.QueueTicketTTL, "how long a place outlives its last check-in")
	f.Float64Var(&c.Strays, "cookieless", c.Strays, "requests a second, besides, of clients without cookies")
	f.DurationVar(&c.Latency, "latency", c.Latency, "a round trip on average, ± a half")
	f.IntVar(&c.Nodes, "nodes", c.Nodes, "gates that share one store")
	f.BoolVar(&c.Sticky, "sticky", false, "people stay at their node while it lives; otherwise any may get the next request")
	f.DurationVar(&c.StoreLatency, "store-latency", c.StoreLatency, "how long a call to that store takes, in whole milliseconds")
	f.IntVar(&c.NodeDeaths, "node-deaths", 0, "nodes that die as people come; each is replaced by a new one after 10s")
	f.IntVar(&c.StoreFailures, "store-failures", 0, "times that the store does not answer for 5s as people come")
	f.IntVar(&c.OriginCapacity, "origin-capacity", 0, "people on the site from which on its pages get slower; 0 for a site that takes no time")
	f.DurationVar(&c.OriginLatency, "origin-latency", c.OriginLatency, "how long a page takes up to there, on average")
	f.DurationVar(&c.Room.AdmissionControlLatency, "admission-control-latency", 0, "time within which 95 of 100 pages are to be there; admissions are slowed while they are not")
	f.Var(textsOf("change", &c.Changes), "change", "a setting that changes as people come, as 10m:new_users_per_minute=100; several may be given")
	f.BoolVar(&o.json, "json", false, "write JSON instead of text")
	f.StringVar(&o.heatmap, "heatmap", "", "a directory for pictures of the waits by time of arrival: heat maps, METHOD.png, and scatter plots, METHOD-scatter.png")
	f.StringArrayVar(&o.logs, "access-log", nil, "send the visitors of this access log, - for standard input; several may be given. Limits that are left out are then those at which nobody waits, and sessions last 5m")
	f.StringVar(&o.points, "points", "", "a file for each visitor's arrival and wait, as CSV")
}

// bindCrowd adds the flags that say who comes and how they behave.
func bindCrowd(f *pflag.FlagSet, c *simulate.Config) {
	f.IntVar(&c.Visitors, "visitors", c.Visitors, "how many come, bots and spammers among them")
	f.TextVar(&c.Arrivals, "arrivals", c.Arrivals, "how they spread: uniform, poisson, burst, spike, ramp")
	takesOneOf(f, "arrivals", "uniform", "poisson", "burst", "spike", "ramp")
	f.DurationVar(&c.Over, "over", c.Over, "the time in which they come")
	f.DurationVar(&c.Browse, "browse", c.Browse, "how long people stay once they are in, ± a tenth")
	f.Var((*share)(&c.GiveUp), "give-up", "share of people who lose patience, as 0.5 or 50%")
	f.DurationVar(&c.Patience, "patience", c.Patience, "how long those wait on average")
	f.Var((*share)(&c.Goodbye), "goodbye", "share of those whose browser tells the gate that they leave")
	f.Var((*share)(&c.Bots), "bots", "share of visitors who keep no cookies and ask once an interval")
	f.Var((*share)(&c.Spammers), "spammers", "share of visitors who ask many times an interval")
	f.IntVar(&c.SpamRate, "spam-rate", c.SpamRate, "how many times")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of all that is drawn at random")
}

func (o *simulateOptions) run(cmd *cobra.Command) error {
	held, err := o.readLogs(cmd)
	if err != nil {
		return err
	}
	configs, err := o.configs()
	if err != nil {
		return err
	}
	results, err := simulateAll(cmd.Context(), cmd.ErrOrStderr(), configs)
	if err != nil {
		return err
	}
	if o.heatmap != "" {
		if err := drawResults(o.heatmap, configs[0], results); err != nil {
			return fmt.Errorf("--heatmap: %w", err)
		}
	}
	if o.points != "" {
		if err := writeFile(o.points, func(w io.Writer) error { return simulate.WritePoints(w, results) }); err != nil {
			return fmt.Errorf("--points: %w", err)
		}
	}
	if !o.json {
		return writeSummaries(cmd.OutOrStdout(), held, configs[0], results)
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(struct {
		AccessLog *accesslog.Log `json:"access_log,omitempty"`
		*simulate.Report
	}{held, simulate.NewReport(configs[0], results)})
}

// configs returns the experiment for each method, or all that is wrong with the flags.
func (o *simulateOptions) configs() ([]simulate.Config, error) {
	var errs []error
	c := o.config
	switch o.experiment {
	case "uniform":
	case "spoofed":
		c.Spoofed = true
	default:
		errs = append(errs, fmt.Errorf("--experiment is %q: must be uniform or spoofed%s", o.experiment, didYouMean(o.experiment, []string{"uniform", "spoofed"})))
	}
	configs, faults := forMethods(c, o.methods)
	errs = append(errs, faults...)
	c.Room.Method = queue.FIFO
	errs = append(errs, zeroFaults(c.Room)...)
	errs = append(errs, flagFaults(c.Validate())...)
	if err := errors.Join(errs...); err != nil {
		return nil, usageError{err}
	}
	return configs, nil
}

// forMethods returns the experiment once for each of the methods.
func forMethods(c simulate.Config, names []string) (configs []simulate.Config, errs []error) {
	if len(names) == 0 {
		errs = append(errs, errors.New("--queueing-method names no method"))
	}
	seen := map[queue.Method]bool{}
	for _, name := range names {
		if err := c.Room.Method.UnmarshalText([]byte(name)); err != nil {
			errs = append(errs, fmt.Errorf("--queueing-method: %w%s", err, didYouMean(name, c.Room.Method.Choices())))
			continue
		}
		if !seen[c.Room.Method] {
			seen[c.Room.Method] = true
			configs = append(configs, c)
		}
	}
	return configs, errs
}

// zeroFaults refuses durations of 0, which in settings mean that nothing is given.
func zeroFaults(s queue.Settings) []error {
	var errs []error
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"session-duration", s.SessionDuration}, {"refresh-interval", s.RefreshInterval},
		{"queue-ticket-ttl", s.QueueTicketTTL},
	} {
		if d.value == 0 {
			errs = append(errs, fmt.Errorf("--%s is 0s: must be at least 1s", d.flag))
		}
	}
	return errs
}

// settingName matches the name of a setting, with which its faults begin.
var settingName = regexp.MustCompile(`^[a-z][a-z_]*`)

// flagFaults returns joined faults one by one, with the names of the flags.
func flagFaults(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var faults []error
		for _, e := range joined.Unwrap() {
			faults = append(faults, flagFaults(e)...)
		}
		return faults
	}
	if err == nil {
		return nil
	}
	return []error{errors.New(settingName.ReplaceAllStringFunc(err.Error(), func(name string) string {
		return "--" + strings.ReplaceAll(name, "_", "-")
	}))}
}

// simulateAll runs the experiments side by side.
func simulateAll(ctx context.Context, terminal io.Writer, configs []simulate.Config) ([]*simulate.Result, error) {
	results, errs := make([]*simulate.Result, len(configs)), make([]error, len(configs))
	bar := startProgress(terminal, len(configs))
	defer bar.stop()
	var all sync.WaitGroup
	for i, c := range configs {
		c.Progress = bar.part(i)
		all.Go(func() { results[i], errs[i] = simulate.Run(ctx, c) })
	}
	all.Wait()
	return results, errors.Join(errs...)
}

// spoofedCloseUp is how much of the waits is drawn once more: it shows the waves in which a
// room that was empty lets people in.
const spoofedCloseUp = 30 * time.Minute

// drawResults writes a heat map and a scatter plot of each result, and for spoofed draws
// those of the beginning, too.
func drawResults(dir string, c simulate.Config, results []*simulate.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range results {
		name := filepath.Join(dir, r.Method.String())
		if err := drawResult(name, c, r, 0); err != nil {
			return err
		}
		if !c.Spoofed || !r.Method.Draws() || r.Wait.Max <= spoofedCloseUp.Seconds() {
			continue
		}
		if err := drawResult(name+"-first-30m", c, r, spoofedCloseUp); err != nil {
			return err
		}
	}
	return nil
}

func drawResult(name string, c simulate.Config, r *simulate.Result, upTo time.Duration) error {
	if err := writeFile(name+".png", r.HeatMap(c, upTo).WritePNG); err != nil {
		return err
	}
	return writeFile(name+"-scatter.png", r.Scatter(c, upTo).WritePNG)
}

// writeFile makes a file of what write writes.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

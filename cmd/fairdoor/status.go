package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

func newStatusCommand() *cobra.Command {
	var flags adminFlags
	var asJSON, watch, ready bool
	every := 2 * time.Second
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the rooms of a running gate, and why people wait",
		Long: "Show the rooms of a running gate, as its admin API tells them. With --watch again and again, until ctrl-C.\n\n" +
			"With --ready only say whether the gate takes visitors. The exit code is 1 if it does not: a health check for containers.",
		Example: `  fairdoor status
  fairdoor status --watch
  fairdoor status --json | jq '.[].reason'
  fairdoor status --admin https://gate.example --admin-token-file /etc/fairdoor/token`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := flags.api(cmd)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			table := statusTable{color: hasColor(out)}
			if watch {
				table.queued = map[string][]int{}
			}
			show := table.show
			switch {
			case ready:
				show = readinessOf
			case asJSON:
				show = jsonOf
			}
			if watch {
				return watchStatus(cmd.Context(), api, every, show, out)
			}
			text, err := show(cmd.Context(), api)
			if err != nil {
				return err
			}
			_, err = out.Write(text)
			return err
		},
	}
	flags.bind(cmd.Flags())
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show them again and again: in place on a terminal, one below the other elsewhere")
	cmd.Flags().DurationVar(&every, "every", every, "how often, with --watch")
	cmd.Flags().BoolVar(&ready, "ready", false, "only whether the gate takes visitors, as /readyz says it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, on one line, with all that the API tells")
	return cmd
}

// standing is how a room stands, in what --json writes of it.
type standing struct {
	admin.StatusJSON
	Name              string `json:"name"`
	QueueingMethod    string `json:"queueing_method"`
	TotalActiveUsers  int    `json:"total_active_users"`
	NewUsersPerMinute int    `json:"new_users_per_minute"`
}

// why tells why people wait, and what else there is to the room.
func (s standing) why() string {
	var parts []string
	add := func(holds bool, part string) {
		if holds {
			parts = append(parts, part)
		}
	}
	add(s.Reason != "" && s.Reason != "none", strings.ReplaceAll(string(s.Reason), "_", " "))
	add(s.SoldOut && s.Reason != "sold_out", "sold out")
	add(s.OpenToAll, "open to all")
	add(0 < s.AdmissionFactor && s.AdmissionFactor < 1, fmt.Sprintf("slowed to %.0f %%", 100*s.AdmissionFactor))
	if s.EventID != "" {
		phase := "event "
		if s.Status == "event_prequeueing" {
			phase = "prequeue of "
		}
		parts = append(slices.DeleteFunc(parts, func(part string) bool { return part == "event" }), phase+s.EventID)
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

// statusTable is how the rooms stand, for people.
type statusTable struct {
	color  bool
	queued map[string][]int // in each room, at each of the latest looks; nil where there is one look
}

// maxTrend is how many looks a trend is drawn from at most.
const maxTrend = 20

func (t statusTable) show(ctx context.Context, api client.API) ([]byte, error) {
	var rooms []standing
	told, err := jsonOf(ctx, api)
	if err == nil {
		err = json.Unmarshal(told, &rooms)
	}
	if err != nil {
		return nil, err
	}
	columns, cells := []string{"ROOM", "STATUS", "METHOD", "ACTIVE", "OPEN", "QUEUED", "THIS MINUTE", "LONGEST WAIT", "WHY"}, standing.cells
	if t.queued != nil {
		behindQueued := slices.Index(columns, "QUEUED") + 1
		columns = slices.Insert(columns, behindQueued, "TREND")
		cells = func(s standing) []any {
			t.queued[s.Name] = append(t.queued[s.Name], s.EstimatedQueuedUsers)
			t.queued[s.Name] = t.queued[s.Name][max(0, len(t.queued[s.Name])-maxTrend):]
			return slices.Insert(s.cells(), behindQueued, any(sparkline(t.queued[s.Name])))
		}
	}
	var text bytes.Buffer
	if err := writeTable(&text, strings.Join(columns, "\t"), rooms, cells); err != nil {
		return nil, err
	}
	for _, room := range rooms {
		if room.MessageOutOfDate != "" {
			fmt.Fprintf(&text, "%s: %s\n", room.Name, row(room.MessageOutOfDate))
		}
	}
	if ready, err := client.Get[struct{ Configuration string }](ctx, api, "/readyz"); err == nil && ready.Configuration != "" {
		fmt.Fprintf(&text, "The configuration, or a list of networks, was %s: the gate's log says why. The old one stays in force.\n", row(ready.Configuration))
	}
	if !t.color {
		return text.Bytes(), nil
	}
	lines := strings.Split(text.String(), "\n")
	lines[0] = faint.of(lines[0])
	for i, room := range rooms {
		lines[i+1] = room.color().of(lines[i+1])
	}
	return []byte(strings.Join(lines, "\n")), nil
}

// color is that of a room's line: red where nobody is let in, and yellow where people wait.
func (s standing) color() color {
	switch {
	case s.Reason.StopsAll():
		return red
	case s.EstimatedQueuedUsers > 0:
		return yellow
	}
	return plain
}

func (s standing) cells() []any {
	wait := "-"
	if s.MaxEstimatedTimeMinutes > 0 {
		wait = fmt.Sprintf("%d min", s.MaxEstimatedTimeMinutes)
	}
	return []any{s.Name, strings.ReplaceAll(s.Status, "_", " "), s.QueueingMethod, fmt.Sprintf("%d/%d", s.ActiveUsers, s.TotalActiveUsers), s.OpenSlots,
		s.EstimatedQueuedUsers, fmt.Sprintf("%d/%d", s.AdmittedThisMinute, s.NewUsersPerMinute), wait, s.why()}
}

// jsonOf is how the rooms stand, for programs: a list of what the API tells, with the name of each
// room.
func jsonOf(ctx context.Context, api client.API) ([]byte, error) {
	rooms, err := client.Get[[]map[string]json.RawMessage](ctx, api, client.Path("rooms"))
	if err != nil {
		return nil, err
	}
	list := []map[string]json.RawMessage{}
	for _, room := range rooms {
		var name string
		if err := json.Unmarshal(room["name"], &name); err != nil {
			return nil, fmt.Errorf("reading what the gate said of its rooms: %w", err)
		}
		all, err := client.Get[map[string]json.RawMessage](ctx, api, client.Path("rooms", name, "status"))
		if errors.Is(err, client.ErrNotFound) {
			continue // the room has gone since the list was made
		}
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"name", "queueing_method", "total_active_users", "new_users_per_minute"} {
			all[name] = room[name]
		}
		list = append(list, all)
	}
	text, err := json.Marshal(list)
	return append(text, '\n'), err
}

// readinessOf is what the gate says of itself: "ok", or "degraded" while the store does not answer.
// It is an error if the gate takes no visitors.
func readinessOf(ctx context.Context, api client.API) ([]byte, error) {
	readiness, err := client.Get[struct{ Status string }](ctx, api, "/readyz")
	return []byte(readiness.Status + "\n"), err
}

// homeAndClear has a terminal show what comes next from its first line on, and nothing else.
const homeAndClear = "\x1b[H\x1b[J"

// watchStatus shows the rooms again and again until ctx ends. A gate that does not answer may do so
// later.
func watchStatus(ctx context.Context, api client.API, every time.Duration, show func(context.Context, client.API) ([]byte, error), out io.Writer) error {
	if every < 100*time.Millisecond {
		return usageError{errors.New("--every: at least 100ms")}
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		text, err := show(ctx, api)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			text = []byte("fairdoor: " + err.Error() + "\n")
		}
		if isTerminal(out) {
			text = fmt.Appendf(nil, "%s%s  every %s, ctrl-C ends\n\n%s", homeAndClear, time.Now().Format(time.TimeOnly), every, text)
		}
		if _, err := out.Write(text); err != nil {
			return nil // nobody reads it any more
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
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
			show := tableOf
			switch {
			case ready:
				show = readinessOf
			case asJSON:
				show = jsonOf
			}
			if watch {
				return watchStatus(cmd.Context(), api, every, show, cmd.OutOrStdout())
			}
			text, err := show(cmd.Context(), api)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
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

// roomSettings are the settings of a room that the table shows, as the admin API has them.
type roomSettings struct {
	Name              string `json:"name"`
	QueueingMethod    string `json:"queueing_method"`
	TotalActiveUsers  int    `json:"total_active_users"`
	NewUsersPerMinute int    `json:"new_users_per_minute"`
}

// roomStatus is the state of a room that the table shows, as the admin API has it.
type roomStatus struct {
	Status   string `json:"status"`
	Reason   string `json:"reason"`
	Active   int    `json:"activeUsers"`
	Open     int    `json:"openSlots"`
	Queued   int    `json:"estimated_queued_users"`
	Admitted int    `json:"admittedThisMinute"`
	Minutes  int    `json:"max_estimated_time_minutes"`

	Event     string  `json:"event_id"`
	SoldOut   bool    `json:"soldOut"`
	OpenToAll bool    `json:"openToAll"`
	Factor    float64 `json:"admissionFactor"`
}

// why tells why people wait, and what else there is to the room.
func (s roomStatus) why() string {
	var parts []string
	add := func(holds bool, part string) {
		if holds {
			parts = append(parts, part)
		}
	}
	add(s.Reason != "" && s.Reason != "none", strings.ReplaceAll(s.Reason, "_", " "))
	add(s.SoldOut && s.Reason != "sold_out", "sold out")
	add(s.OpenToAll, "open to all")
	add(0 < s.Factor && s.Factor < 1, fmt.Sprintf("slowed to %.0f %%", 100*s.Factor))
	if s.Event != "" {
		phase := "event "
		if s.Status == "event_prequeueing" {
			phase = "prequeue of "
		}
		parts = append(slices.DeleteFunc(parts, func(part string) bool { return part == "event" }), phase+s.Event)
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

// eachRoom calls a function with what the API tells of each room, and how it stands.
func eachRoom(ctx context.Context, api adminAPI, do func(room, status json.RawMessage) error) error {
	var rooms []json.RawMessage
	if err := api.get(ctx, "/api/v1/rooms", &rooms); err != nil {
		return err
	}
	for _, room := range rooms {
		var r roomSettings
		if err := json.Unmarshal(room, &r); err != nil {
			return fmt.Errorf("reading what the gate said of its rooms: %w", err)
		}
		var status json.RawMessage
		err := api.get(ctx, roomPath(r.Name)+"/status", &status)
		if errors.Is(err, errNotFound) {
			continue // the room has gone since the list was made
		}
		if err == nil {
			err = do(room, status)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// roomPath is the resource of a room.
func roomPath(name string) string { return "/api/v1/rooms/" + url.PathEscape(name) }

// tableOf is how the rooms stand, for people.
func tableOf(ctx context.Context, api adminAPI) ([]byte, error) {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROOM\tSTATUS\tMETHOD\tACTIVE\tOPEN\tQUEUED\tTHIS MINUTE\tLONGEST WAIT\tWHY")
	err := eachRoom(ctx, api, func(room, status json.RawMessage) error {
		var r roomSettings
		var s roomStatus
		if err := errors.Join(json.Unmarshal(room, &r), json.Unmarshal(status, &s)); err != nil {
			return fmt.Errorf("reading what the gate said of room %q: %w", r.Name, err)
		}
		writeRow(table, r, s)
		return nil
	})
	if err == nil {
		err = table.Flush()
	}
	return text.Bytes(), err
}

func writeRow(table io.Writer, r roomSettings, s roomStatus) {
	wait := "-"
	if s.Minutes > 0 {
		wait = fmt.Sprintf("%d min", s.Minutes)
	}
	fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%d\t%d\t%d/%d\t%s\t%s\n", r.Name, strings.ReplaceAll(s.Status, "_", " "),
		r.QueueingMethod, s.Active, r.TotalActiveUsers, s.Open, s.Queued, s.Admitted, r.NewUsersPerMinute, wait, s.why())
}

// jsonOf is how the rooms stand, for programs: a list of what the API tells, with the name of each room.
func jsonOf(ctx context.Context, api adminAPI) ([]byte, error) {
	list := []map[string]json.RawMessage{}
	err := eachRoom(ctx, api, func(room, status json.RawMessage) error {
		var of, all map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(room, &of), json.Unmarshal(status, &all)); err != nil {
			return fmt.Errorf("reading what the gate said of a room: %w", err)
		}
		for _, name := range []string{"name", "queueing_method", "total_active_users", "new_users_per_minute"} {
			all[name] = of[name]
		}
		list = append(list, all)
		return nil
	})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(list)
	return append(text, '\n'), err
}

// readinessOf is what the gate says of itself: "ok", or "degraded" while the store does not answer. It is an error if the gate takes no
// visitors.
func readinessOf(ctx context.Context, api adminAPI) ([]byte, error) {
	var readiness struct {
		Status string `json:"status"`
	}
	err := api.get(ctx, "/readyz", &readiness)
	return []byte(readiness.Status + "\n"), err
}

// homeAndClear has a terminal show what comes next from its first line on, and nothing else.
const homeAndClear = "\x1b[H\x1b[J"

// watchStatus shows the rooms again and again until ctx ends. A gate that does not answer may do so later.
func watchStatus(ctx context.Context, api adminAPI, every time.Duration, show func(context.Context, adminAPI) ([]byte, error), out io.Writer) error {
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

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newStatusCommand() *cobra.Command {
	var flags adminFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the rooms of a running gate",
		Long:  "Show the rooms of a running gate, as its admin API tells them.",
		Example: `  anteroom status
  anteroom status --admin https://gate.example --admin-token-file /etc/anteroom/token`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := flags.api(cmd)
			if err != nil {
				return err
			}
			return showStatus(cmd.Context(), api, cmd.OutOrStdout())
		},
	}
	flags.bind(cmd.Flags())
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
	Status  string `json:"status"`
	Active  int    `json:"activeUsers"`
	Open    int    `json:"openSlots"`
	Queued  int    `json:"estimated_queued_users"`
	Minutes int    `json:"max_estimated_time_minutes"`
}

func showStatus(ctx context.Context, api adminAPI, out io.Writer) error {
	var rooms []roomSettings
	if err := api.get(ctx, "/api/v1/rooms", &rooms); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROOM\tSTATUS\tMETHOD\tACTIVE\tOPEN\tQUEUED\tPER MINUTE\tLONGEST WAIT")
	for _, r := range rooms {
		var s roomStatus
		err := api.get(ctx, "/api/v1/rooms/"+url.PathEscape(r.Name)+"/status", &s)
		if errors.Is(err, errNotFound) {
			continue // the room has gone since the list was made
		}
		if err != nil {
			return err
		}
		writeRow(table, r, s)
	}
	return table.Flush()
}

func writeRow(table io.Writer, r roomSettings, s roomStatus) {
	wait := "-"
	if s.Minutes > 0 {
		wait = fmt.Sprintf("%d min", s.Minutes)
	}
	fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%d\t%d\t%d\t%s\n", r.Name, strings.ReplaceAll(s.Status, "_", " "),
		r.QueueingMethod, s.Active, r.TotalActiveUsers, s.Open, s.Queued, r.NewUsersPerMinute, wait)
}

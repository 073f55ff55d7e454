package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newPassCommand() *cobra.Command {
	var flags adminFlags
	cmd := &cobra.Command{
		Use:   "pass",
		Short: "Make, list and revoke passes: links and codes that let people in or ahead",
		Long: `Make, list and revoke the passes of a room of a running gate, by its admin API.
A pass is a link and a code. Its kind says what it is good for:

  in      its holder takes the next slot, ahead of everybody
  ahead   its holder is ahead of everybody without a pass
  join    its holder may join, in a room with admission: passes

The room needs passes: true, or admission: passes.`,
		Example: `  fairdoor pass make shop --name press --kind in --uses 5 --for 24h
  fairdoor pass make shop --name members --kind ahead --count 500 --for 72h
  fairdoor pass list shop
  fairdoor pass revoke shop press --end-sessions`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	flags.bind(cmd.PersistentFlags())
	cmd.AddCommand(newPassMakeCommand(&flags), newPassListCommand(&flags), newPassRevokeCommand(&flags))
	return cmd
}

// pass is a pass as the admin API has it.
type pass struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Uses      int    `json:"uses"`
	Used      int    `json:"used"`
	ExpiresAt string `json:"expiresAt"`
	RevokedAt string `json:"revokedAt"`
	Code      string `json:"code"`
	Link      string `json:"link"`
}

// passes is the resource of a room's passes.
func (t task) passes() string { return "/api/v1/rooms/" + url.PathEscape(t.args[0]) + "/passes" }

func newPassMakeCommand(flags *adminFlags) *cobra.Command {
	var order struct {
		Name  string `json:"name"`
		Kind  string `json:"kind"`
		Uses  int    `json:"uses"`
		Count int    `json:"count"`
		For   string `json:"for"`
	}
	var lasts time.Duration
	var site string
	cmd := adminTask(flags, "pass", "make ROOM", "Make passes, and show their codes and links", func(t task) error {
		var made struct {
			Passes []pass `json:"passes"`
		}
		order.For = lasts.String()
		if err := t.api.order(t.ctx, http.MethodPost, t.passes(), order, &made); err != nil {
			return err
		}
		rows := make([]string, len(made.Passes))
		for i, p := range made.Passes {
			rows[i] = row(p.ID, p.Code, strings.TrimSuffix(site, "/")+p.Link)
		}
		return t.table("ID\tCODE\tLINK", rows)
	})
	cmd.Long = `Make passes of one name. Each has a code and a link, which are shown only now.
Nobody can use a pass more than --uses times; whoever has used it comes back by it
until it expires.`
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&order.Name, "name", "", "name by which you know the passes, such as press")
	f.StringVar(&order.Kind, "kind", "in", "what they are good for: in, ahead or join")
	f.IntVar(&order.Uses, "uses", 1, "how many people may use each")
	f.IntVar(&order.Count, "count", 1, "how many passes to make")
	f.DurationVar(&lasts, "for", 24*time.Hour, "how long they are good")
	f.StringVar(&site, "site", "", "address that links begin with, such as https://shop.example")
	return cmd
}

func newPassListCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "pass", "list ROOM", "Show the passes of a room", func(t task) error {
		var rows []string
		for after := ""; ; {
			var page struct {
				Passes []pass `json:"passes"`
			}
			if err := t.api.get(t.ctx, t.passes()+"?limit=1000&after="+url.QueryEscape(after), &page); err != nil {
				return err
			}
			if len(page.Passes) == 0 {
				return t.table("ID\tNAME\tKIND\tUSED\tUNTIL\tSTATUS", rows)
			}
			for _, p := range page.Passes {
				rows = append(rows, row(p.ID, p.Name, p.Kind, fmt.Sprintf("%d/%d", p.Used, p.Uses), moment(p.ExpiresAt), p.status()))
				after = p.ID
			}
		}
	})
}

// status says whether the pass is good.
func (p pass) status() string {
	expires, err := time.Parse(time.RFC3339, p.ExpiresAt)
	switch {
	case p.RevokedAt != "":
		return "revoked " + moment(p.RevokedAt)
	case err == nil && !time.Now().Before(expires):
		return "expired"
	case p.Used >= p.Uses:
		return "used up"
	}
	return "good"
}

func newPassRevokeCommand(flags *adminFlags) *cobra.Command {
	var end bool
	cmd := adminTask(flags, "pass", "revoke ROOM PASS", "Revoke the passes of an id or a name", func(t task) error {
		path := t.passes() + "/" + url.PathEscape(t.args[1])
		if end {
			path += "?end_sessions=true"
		}
		var done struct{ Revoked, Sessions int }
		if err := t.api.order(t.ctx, http.MethodDelete, path, nil, &done); err != nil {
			return err
		}
		if !end {
			return t.say("Revoked %d. Who is in by them stays in.", done.Revoked)
		}
		return t.say("Revoked %d, and ended %d sessions.", done.Revoked, done.Sessions)
	})
	cmd.Long = `Revoke the passes that have an id or a name: nobody uses them any more, and their
holders are not ahead of anybody. All gates know within a second or two. The
sessions can be ended later, too: ask again with --end-sessions.`
	cmd.Flags().BoolVar(&end, "end-sessions", false, "end the sessions of their holders, too")
	return cmd
}

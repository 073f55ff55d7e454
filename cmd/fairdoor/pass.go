package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
)

func newPassCommand() *cobra.Command {
	return adminGroup(&cobra.Command{
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
	}, newPassMakeCommand, newPassListCommand, newPassRevokeCommand)
}

// passes is the resource of a room's passes.
func (t task) passes(names ...string) string {
	return client.Path(append([]string{"rooms", t.args[0], "passes"}, names...)...)
}

func newPassMakeCommand(flags *adminFlags) *cobra.Command {
	order := passes.PassOrder{Uses: new(int), Count: new(int)}
	var lasts time.Duration
	var site string
	cmd := adminTask(flags, "make ROOM", "Make passes, and show their codes and links", func(t task) error {
		order.For = lasts.String()
		var made passes.PassesJSON
		if err := t.api.Order(t.ctx, http.MethodPost, t.passes(), order, &made); err != nil {
			return err
		}
		return table(t, "ID\tCODE\tLINK", made.Passes, func(p passes.PassJSON) []any {
			return []any{p.ID, p.Code, strings.TrimSuffix(site, "/") + p.Link}
		})
	})
	cmd.Long = `Make passes of one name. Each has a code and a link, which are shown only now.
Nobody can use a pass more than --uses times; whoever has used it comes back by it
until it expires.`
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&order.Name, "name", "", "name by which you know the passes, such as press")
	f.StringVar((*string)(&order.Kind), "kind", "in", "what they are good for: in, ahead or join")
	takesOneOf(f, "kind", "in", "ahead", "join")
	f.IntVar(order.Uses, "uses", 1, "how many people may use each")
	f.IntVar(order.Count, "count", 1, "how many passes to make")
	f.DurationVar(&lasts, "for", 24*time.Hour, "how long they are good")
	f.StringVar(&site, "site", "", "address that links begin with, such as https://shop.example")
	return cmd
}

func newPassListCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "list ROOM", "Show the passes of a room", func(t task) error {
		var all []passes.PassJSON
		for after := ""; ; after = all[len(all)-1].ID {
			page, err := client.Get[passes.PassesJSON](t.ctx, t.api, t.passes()+"?limit=1000&after="+url.QueryEscape(after))
			if err != nil {
				return err
			}
			if len(page.Passes) == 0 {
				break
			}
			all = append(all, page.Passes...)
		}
		return table(t, "ID\tNAME\tKIND\tUSED\tUNTIL\tSTATUS", all, func(p passes.PassJSON) []any {
			return []any{p.ID, p.Name, p.Kind, fmt.Sprintf("%d/%d", p.Used, p.Uses), moment(p.ExpiresAt), goodness(p)}
		})
	})
}

// goodness says whether a pass is good.
func goodness(p passes.PassJSON) string {
	switch {
	case p.RevokedAt != nil:
		return "revoked " + moment(*p.RevokedAt)
	case !time.Now().Before(p.ExpiresAt):
		return "expired"
	case p.Used >= p.Uses:
		return "used up"
	}
	return "good"
}

func newPassRevokeCommand(flags *adminFlags) *cobra.Command {
	var end bool
	cmd := adminTask(flags, "revoke ROOM PASS", "Revoke the passes of an id or a name", func(t task) error {
		path := t.passes(t.args[1])
		if end {
			path += "?end_sessions=true"
		}
		var done passes.RevokedJSON
		if err := t.api.Order(t.ctx, http.MethodDelete, path, nil, &done); err != nil {
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

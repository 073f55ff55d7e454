package main

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/proxy/watch"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

func newWebhooksCommand() *cobra.Command {
	return adminGroup(&cobra.Command{
		Use:   "webhooks",
		Short: "Show the webhooks of a running gate, and test them",
		Long:  "Show the webhooks of a running gate, and send them tests, by its admin API. Each gate has its own deliveries.",
		Example: `  fairdoor webhooks list
  fairdoor webhooks test team`,
	}, newWebhooksListCommand, newWebhooksTestCommand)
}

func newWebhooksListCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "list", "Show the webhooks, and how they take what they are sent", func(t task) error {
		hooks, err := client.Get[[]webhooks.Status](t.ctx, t.api, client.Path("webhooks"))
		if err != nil {
			return err
		}
		const heading = "WEBHOOK\tURL\tEVENTS\tROOMS\tDELIVERED\tWAITING\tGIVEN UP\tLAST FAILURE"
		return table(t, heading, hooks, func(h webhooks.Status) []any {
			return []any{h.Name, h.URL, allOr(h.Events), allOr(h.Rooms), h.Sent, h.Waiting, h.Dropped, lastFailure(h)}
		})
	})
}

// allOr lists names; none stand for all.
func allOr[S ~string](names []S) string {
	if len(names) == 0 {
		return "all"
	}
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ",")
}

func lastFailure(h webhooks.Status) string {
	switch {
	case h.Failure == "":
		return "-"
	case h.Gone:
		return moment(h.At) + " (gone) " + h.Failure
	}
	return moment(h.At) + " " + h.Failure
}

func newWebhooksTestCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "test [NAME]", "Send a test to a webhook, or to all", func(t task) error {
		var done watch.SentJSON
		path := client.Path("webhooks", "test")
		if len(t.args) == 1 {
			path += "?name=" + url.QueryEscape(t.args[0])
		}
		if err := t.api.Order(t.ctx, http.MethodPost, path, nil, &done); err != nil {
			return err
		}
		return t.say("A test is on its way to %d. See: fairdoor webhooks list", done.Sent)
	})
	cmd.Long = "Send a test, which is an event of the type test, to the webhook NAME or to all. It is signed and tried again as every delivery."
	return cmd
}

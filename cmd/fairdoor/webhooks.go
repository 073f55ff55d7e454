package main

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

func newWebhooksCommand() *cobra.Command {
	var flags adminFlags
	cmd := &cobra.Command{
		Use:   "webhooks",
		Short: "Show the webhooks of a running gate, and test them",
		Long:  "Show the webhooks of a running gate, and send them tests, by its admin API. Each gate has its own deliveries.",
		Example: `  fairdoor webhooks list
  fairdoor webhooks test team`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	flags.bind(cmd.PersistentFlags())
	cmd.AddCommand(newWebhooksListCommand(&flags), newWebhooksTestCommand(&flags))
	return cmd
}

// webhookStatus is how a webhook stands, as the admin API has it.
type webhookStatus struct {
	Name      string   `json:"name"`
	URL       string   `json:"url"`
	Events    []string `json:"events"`
	Rooms     []string `json:"rooms"`
	Waiting   int      `json:"waiting"`
	Delivered int      `json:"delivered"`
	Dropped   int      `json:"dropped"`
	Gone      bool     `json:"gone"`
	Failure   string   `json:"last_failure"`
	At        string   `json:"last_failure_at"`
}

func newWebhooksListCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "webhooks", "list", "Show the webhooks, and how they take what they are sent", func(t task) error {
		var hooks []webhookStatus
		if err := t.api.get(t.ctx, "/api/v1/webhooks", &hooks); err != nil {
			return err
		}
		rows := make([]string, len(hooks))
		for i, h := range hooks {
			rows[i] = row(h.Name, h.URL, allOr(h.Events), allOr(h.Rooms), h.Delivered, h.Waiting, h.Dropped, h.lastFailure())
		}
		return t.table("WEBHOOK\tURL\tEVENTS\tROOMS\tDELIVERED\tWAITING\tGIVEN UP\tLAST FAILURE", rows)
	})
}

// allOr lists names; none stand for all.
func allOr(names []string) string {
	if len(names) == 0 {
		return "all"
	}
	return strings.Join(names, ",")
}

func (h webhookStatus) lastFailure() string {
	switch {
	case h.Failure == "":
		return "-"
	case h.Gone:
		return moment(h.At) + " (gone) " + h.Failure
	}
	return moment(h.At) + " " + h.Failure
}

func newWebhooksTestCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "webhooks", "test [NAME]", "Send a test to a webhook, or to all", func(t task) error {
		var done struct {
			Sent int `json:"sent"`
		}
		path := "/api/v1/webhooks/test"
		if len(t.args) == 1 {
			path += "?name=" + url.QueryEscape(t.args[0])
		}
		if err := t.api.read(t.ctx, http.MethodPost, path, "", nil, &done); err != nil {
			return err
		}
		return t.say("A test is on its way to %d. See: fairdoor webhooks list", done.Sent)
	})
	cmd.Long = "Send a test, which is an event of the type test, to the webhook NAME or to all. It is signed and tried again as every delivery."
	return cmd
}

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// visitorDeeds are what is done to a visitor, by the flag that asks for it.
var visitorDeeds = []struct {
	flag, usage    string
	method, path   string // below the visitor's
	question, done string
}{
	{"let-in", "let them in next: ahead of everybody who waits", http.MethodPut, "/ahead", "Let them in next", "They are ahead of everybody who waits."},
	{"back", "give them back the place that they had", http.MethodDelete, "/ahead", "Give them back their place", "They have their own place again."},
	{"renew", "renew their session", http.MethodPost, "/renew", "Renew their session", "Their session is renewed."},
	{"end", "end their session", http.MethodDelete, "", "End their session", "They are out."},
}

func newVisitorCommand() *cobra.Command {
	var flags adminFlags
	yes, wanted := false, make([]bool, len(visitorDeeds))
	cmd := &cobra.Command{
		Use:   "visitor CODE",
		Short: "Find a visitor, and say where they are",
		Long: `Find a visitor of a running gate by the support code that their page shows, by a part of
what the site calls them, or by their id, and say where they are and what they are told; with
admissions_log, also what became of them at this gate, and of those who have gone.`,
		Example: `  fairdoor visitor 7F3K-Q2M9
  fairdoor visitor 7F3K-Q2M9 --let-in`,
		Args: takes("this takes: fairdoor visitor CODE", func(args []string) bool { return len(args) == 1 }),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := flags.api(cmd)
			if err != nil {
				return err
			}
			found, err := client.Get[admin.FoundJSON](cmd.Context(), api, "/api/v1/visitors?q="+url.QueryEscape(args[0]))
			if err != nil {
				return err
			}
			tellFound(cmd.OutOrStdout(), &found)
			for i, deed := range visitorDeeds {
				if !wanted[i] {
					continue
				}
				if len(found.Visitors) != 1 {
					return errNotOne
				}
				v := found.Visitors[0]
				if !yes {
					if err := ask(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), deed.question); err != nil {
						return err
					}
				}
				if err := api.Order(cmd.Context(), deed.method, client.Path("rooms", v.Room, "visitors", "code:"+v.SupportCode)+deed.path, nil, nil); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), deed.done)
			}
			return nil
		},
	}
	flags.bind(cmd.Flags())
	for i, deed := range visitorDeeds {
		cmd.Flags().BoolVar(&wanted[i], deed.flag, false, deed.usage)
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing")
	return cmd
}

var errNotOne = errors.New("nothing was changed: it takes one visitor. Name them by their support code")

// tellFound writes where visitors are, in sentences.
func tellFound(out io.Writer, found *admin.FoundJSON) {
	for _, v := range found.Visitors {
		fmt.Fprintln(out, strings.TrimSpace(v.SupportCode+" "+v.Label)+", of "+v.Room+":")
		for _, s := range v.Story {
			fmt.Fprint(out, "  ", s.Text)
			if !s.At.IsZero() {
				fmt.Fprint(out, " ", s.At.Local().Format(time.DateTime), ".")
			}
			fmt.Fprintln(out)
		}
	}
	for _, room := range found.Failing {
		fmt.Fprintf(out, "The store of %s does not answer: who is in there is not known.\n", room)
	}
	if len(found.Visitors) == 0 {
		fmt.Fprintln(out, "Nobody is found. Of those who wait, a gate knows those who have asked it within their interval: have them load the page again. With admissions_log it knows all who came.")
	}
}

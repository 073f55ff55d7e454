package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/docs"
)

func newDocsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "docs [words]",
		Short: "Find a page of the documentation, and show it",
		Long: `Find the page that answers a question, and show it: by its name, or by words of
the question. What else may fit is named below it. Without words, list all pages.

A running gate shows the same pages in a browser, at /docs on its admin listener.`,
		Example: `  fairdoor docs
  fairdoor docs limits
  fairdoor docs what happens when redis dies
  fairdoor docs queue_ticket_ttl`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, page := range docs.Pages() {
				if len(args) == 0 {
					offers = append(offers, cobra.CompletionWithDesc(page.Name, page.Title))
				}
			}
			return offers, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return showDocs(cmd.OutOrStdout(), strings.Join(args, " "))
		},
	}
}

// showDocs writes the page that answers a question, and names others.
func showDocs(out io.Writer, question string) error {
	style := docs.Style{Width: docsWidth(out), Bold: isTerminal(out)}
	if page, found := docs.Named(strings.TrimSpace(question)); found {
		return page.Print(out, style)
	}
	if question == "" {
		page, _ := docs.Named(docs.Index)
		return page.Print(out, style)
	}
	answer := docs.Find(question)
	for _, option := range answer.Options {
		if _, err := fmt.Fprintf(out, "%s\n\n", option); err != nil {
			return err
		}
	}
	if len(answer.Pages) == 0 {
		if len(answer.Options) > 0 {
			return nil
		}
		var names []string
		for _, page := range docs.Pages() {
			names = append(names, page.Name)
		}
		return fmt.Errorf("no page has these words%s; fairdoor docs lists all pages", didYouMean(question, names))
	}
	if err := answer.Pages[0].Page.Print(out, style); err != nil {
		return err
	}
	for i, f := range answer.Pages[1:] {
		if i == 0 {
			if _, err := fmt.Fprintln(out, "\nSee also"); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(out, "  fairdoor docs %-14s %s\n", f.Page.Name, strings.Join(strings.Fields(f.Page.Title+" "+f.Heading), " ")); err != nil {
			return err
		}
	}
	return nil
}

// docsWidth is how wide text is shown: as the terminal is, but in lines that can be read.
func docsWidth(out io.Writer) int {
	const least, most = 60, 100
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(most, max(least, width))
		}
	}
	return most
}

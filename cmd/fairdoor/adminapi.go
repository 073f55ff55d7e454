package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// adminFlags say where the admin API of a gate is.
type adminFlags struct{ address, token, tokenFile, as string }

func (a *adminFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&a.address, "admin", cmp.Or(os.Getenv("FAIRDOOR_ADMIN"), client.DefaultAddress),
		"address of the gate's admin API; with https:// where something before it speaks TLS (env FAIRDOOR_ADMIN)")
	a.bindToken(f)
	f.StringVar(&a.as, "as", cmp.Or(os.Getenv("FAIRDOOR_AS"), osUser()), "your name, which is noted with what you change; nobody checks it (default the user of the system; env FAIRDOOR_AS)")
	f.Lookup("as").DefValue = ""
}

// osUser is the name of the system's user who runs the program; "" if it is not known.
func osUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// bindToken adds the flags of the token alone.
func (a *adminFlags) bindToken(f *pflag.FlagSet) {
	f.StringVar(&a.token, "admin-token", os.Getenv("FAIRDOOR_ADMIN_TOKEN"), "token of the admin API (env FAIRDOOR_ADMIN_TOKEN)")
	f.StringVar(&a.tokenFile, "admin-token-file", os.Getenv("FAIRDOOR_ADMIN_TOKEN_FILE"),
		"file with the token, unless that is given (env FAIRDOOR_ADMIN_TOKEN_FILE)")
	f.Lookup("admin-token").DefValue = ""
	f.Lookup("admin-token-file").DefValue = ""
}

// api is the admin API that the flags name: at an address, in the form of the gate's configuration,
// or at a URL.
func (a *adminFlags) api(cmd *cobra.Command) (api client.API, err error) {
	url, err := client.URL(a.address)
	if err != nil {
		return api, usageError{fmt.Errorf("--admin: %w", err)}
	}
	api = client.API{URL: url, Token: a.token, As: a.as}
	if cmd.Flags().Changed("admin-token-file") && !cmd.Flags().Changed("admin-token") {
		api.Token = "" // flags go before the environment
	}
	if api.Token == "" && a.tokenFile != "" {
		api.Token, err = client.ReadToken(a.tokenFile)
	}
	return api, err
}

// adminGroup completes a command whose subcommands all ask the admin API of one gate.
func adminGroup(cmd *cobra.Command, subcommands ...func(*adminFlags) *cobra.Command) *cobra.Command {
	var flags adminFlags
	flags.bind(cmd.PersistentFlags())
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, subcommand := range subcommands {
		cmd.AddCommand(subcommand(&flags))
	}
	return cmd
}

// task is a subcommand that runs.
type task struct {
	ctx     context.Context
	api     client.API
	args    []string // the first is the name of the waitlist or the room, if there are any
	in      io.Reader
	out     io.Writer
	warning io.Writer
}

// adminTask makes a subcommand. What it takes follows its name in use: words in capitals, the last
// in brackets if it can be left out.
func adminTask(flags *adminFlags, use, short string, run func(task) error) *cobra.Command {
	words := strings.Fields(use)[1:]
	most, least := len(words), len(words)
	if most > 0 && strings.HasPrefix(words[most-1], "[") {
		least--
	}
	return &cobra.Command{
		Use: use, Short: short, DisableFlagsInUseLine: true, ValidArgsFunction: completion(flags, words...),
		Args: func(cmd *cobra.Command, args []string) error {
			return takes("this takes: "+cmd.UseLine(), func(args []string) bool { return least <= len(args) && len(args) <= most })(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := flags.api(cmd)
			if err != nil {
				return err
			}
			return run(task{cmd.Context(), api, args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
}

// order gives the gate an order, which may be nil, and says what is so then.
func (t task) order(method, path string, order any, told string, args ...any) error {
	if err := t.api.Order(t.ctx, method, path, order, nil); err != nil {
		return err
	}
	return t.say(told, args...)
}

// copyTo writes what the gate answers. Doing is what goes on meanwhile, for errors.
func (t task) copyTo(out io.Writer, path, doing string) error {
	answer, err := t.api.Open(t.ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	defer answer.Close()
	if _, err := io.Copy(out, answer); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (t task) say(format string, args ...any) error {
	_, err := fmt.Fprintf(t.out, format+"\n", args...)
	return err
}

// table writes a row of cells for each of a list, below a heading.
func table[T any](t task, heading string, list []T, cells func(T) []any) error {
	return writeTable(t.out, heading, list, cells)
}

func writeTable[T any](out io.Writer, heading string, list []T, cells func(T) []any) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, heading)
	for _, of := range list {
		fmt.Fprintln(table, row(cells(of)...))
	}
	return table.Flush()
}

// row joins cells. Strangers have written some, so they are shown without what a terminal obeys.
func row(cells ...any) string {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return '?'
		}, fmt.Sprint(cell))
	}
	return strings.Join(texts, "\t")
}

// moment shows a time of the API to the second.
func moment(at time.Time) string { return at.UTC().Format(time.RFC3339) }

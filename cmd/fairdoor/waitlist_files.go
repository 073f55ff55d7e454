package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/guests/operate"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func newWaitlistImportCommand(flags *adminFlags) *cobra.Command {
	var columns []string
	var look, yes bool
	cmd := adminTask(flags, "import WAITLIST [FILE]", "Add people from CSV", func(t task) error {
		in := t.in
		if len(t.args) == 2 && t.args[1] != "-" {
			file, err := os.Open(t.args[1])
			if err != nil {
				return fmt.Errorf("importing: %w", err)
			}
			defer func() { _ = file.Close() }() // it is only read
			in = file
		}
		file := bufio.NewReaderSize(in, longestHeader)
		query := url.Values{"column": columns}
		if err := t.showColumns(file, query); err != nil || look {
			return err
		}
		if person, is := t.in.(*os.File); is && in != t.in && isTerminal(person) && !yes {
			if err := ask(t.ctx, t.in, t.out, "Import this"); err != nil {
				return err
			}
		}
		return t.importFrom(file, query)
	})
	cmd.Long = `Add people from a file, or from the standard input, with comma-separated values.
The first line names the columns: email or user_id, and where wanted others, as
an export has them. The columns of GetWaitlist, Viral Loops, LaunchList and
Mailchimp are known, too. What is read from which column is shown before.

Nobody is asked to confirm an address, and nobody gets a mail. Those who are on
the list already stay as they are. Those who are unconfirmed have to sign up
again, for which they have confirm_ttl, and keep their place. Lines that are
faulty are told and left out; then the exit code is 1.`
	cmd.Flags().SortFlags = false
	cmd.Flags().StringArrayVar(&columns, "column", nil, `what is read from which column, as in "joined_at=Signup Date"; can be given again`)
	cmd.Flags().BoolVar(&look, "dry-run", false, "only show what is read from which column")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before")
	return cmd
}

// longestHeader is how long the first line of a file may be, in bytes.
const longestHeader = 64 << 10

// showColumns shows what is read from which column of a file. It leaves the file as it is.
func (t task) showColumns(file *bufio.Reader, query url.Values) error {
	begin, err := file.Peek(longestHeader)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("importing: %w", err)
	}
	header, _, _ := bytes.Cut(begin, []byte("\n"))
	var told operate.ColumnsJSON
	query = url.Values{"column": query["column"], "dry_run": {"true"}}
	if err := t.api.Send(t.ctx, http.MethodPost, t.path("import")+"?"+query.Encode(), "text/csv", bytes.NewReader(header), &told); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(told.Columns)) {
		fmt.Fprintf(t.warning, "%s from %s\n", name, row(strconv.Quote(told.Columns[name])))
	}
	for _, name := range told.Ignored {
		fmt.Fprintf(t.warning, "ignored: %s\n", row(strconv.Quote(name)))
	}
	return nil
}

func (t task) importFrom(in io.Reader, query url.Values) error {
	var done waitlist.Imported
	if err := t.api.Send(t.ctx, http.MethodPost, t.path("import")+"?"+query.Encode(), "text/csv", in, &done); err != nil {
		return err
	}
	for _, f := range done.Faults {
		fmt.Fprintln(t.warning, row(fmt.Sprintf("line %d: %s", f.Line, f.Problem)))
	}
	if more := done.Faulty - len(done.Faults); more > 0 {
		fmt.Fprintf(t.warning, "and %d others\n", more)
	}
	unconfirmed := ""
	if done.Unconfirmed > 0 {
		unconfirmed = fmt.Sprintf(" Unconfirmed: %d.", done.Unconfirmed)
	}
	if err := t.say("Added %d. On the list already: %d.%s", done.Added, done.Known, unconfirmed); err != nil {
		return err
	}
	if done.Faulty > 0 {
		return fmt.Errorf("%d lines were left out", done.Faulty)
	}
	return nil
}

func newExportCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "export WAITLIST [FILE]", "Write everybody as CSV", func(t task) error {
		if len(t.args) == 1 || t.args[1] == "-" {
			return t.copyTo(t.out, t.path("export"), "exporting")
		}
		return t.exportToFile(t.args[1])
	})
	cmd.Long = `Write everybody on a waitlist to a file, or to the standard output, as
comma-separated values, in the order in which they signed up. "fairdoor waitlist
import" reads it.

A file that is there is replaced once the export is whole. It can be read by its
owner only, as it has personal data.`
	return cmd
}

// exportToFile writes a new file beside the named one, and puts it in its place.
func (t task) exportToFile(name string) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".export-*")
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	defer os.RemoveAll(file.Name())
	if err := errors.Join(t.copyTo(file, t.path("export"), "exporting"), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	return nil
}

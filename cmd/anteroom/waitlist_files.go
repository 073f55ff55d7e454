package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newWaitlistImportCommand(flags *adminFlags) *cobra.Command {
	cmd := waitlistTask(flags, "import NAME [FILE]", "Add people from CSV", func(t task) error {
		in := t.in
		if len(t.args) == 2 && t.args[1] != "-" {
			file, err := os.Open(t.args[1])
			if err != nil {
				return fmt.Errorf("importing: %w", err)
			}
			defer func() { _ = file.Close() }() // it is only read
			in = file
		}
		return t.importFrom(in)
	})
	cmd.Long = `Add people from a file, or from the standard input, with comma-separated values.
The first line names the columns: email or user_id, and where wanted status,
priority, referral_code, language and joined_at.

Nobody is asked to confirm an address, and nobody gets a mail. Those who are on
the list already stay as they are, and those whose status is unconfirmed are
passed over. Lines that are faulty are told and left out; then the exit code is 1.`
	return cmd
}

func (t task) importFrom(in io.Reader) error {
	var done struct {
		Added       int `json:"added"`
		Known       int `json:"known"`
		Unconfirmed int `json:"unconfirmed"`
		Faulty      int `json:"faulty"`
		Faults      []struct {
			Line    int    `json:"line"`
			Problem string `json:"problem"`
		} `json:"faults"`
	}
	if err := t.api.read(t.ctx, http.MethodPost, t.path("import"), "text/csv", in, &done); err != nil {
		return err
	}
	for _, f := range done.Faults {
		fmt.Fprintln(t.warning, row(fmt.Sprintf("line %d: %s", f.Line, f.Problem)))
	}
	if more := done.Faulty - len(done.Faults); more > 0 {
		fmt.Fprintf(t.warning, "and %d others\n", more)
	}
	passedOver := ""
	if done.Unconfirmed > 0 {
		passedOver = fmt.Sprintf(" Unconfirmed, and passed over: %d.", done.Unconfirmed)
	}
	if err := t.say("Added %d. On the list already: %d.%s", done.Added, done.Known, passedOver); err != nil {
		return err
	}
	if done.Faulty > 0 {
		return fmt.Errorf("%d lines were left out", done.Faulty)
	}
	return nil
}

func newExportCommand(flags *adminFlags) *cobra.Command {
	cmd := waitlistTask(flags, "export NAME [FILE]", "Write everybody as CSV", func(t task) error {
		if len(t.args) == 1 || t.args[1] == "-" {
			return t.exportTo(t.out)
		}
		return t.exportToFile(t.args[1])
	})
	cmd.Long = `Write everybody on a waitlist to a file, or to the standard output, as
comma-separated values, in the order in which they signed up. "anteroom waitlist
import" reads it.

A file that is there is replaced once the export is whole. It can be read by its
owner only, as it has personal data.`
	return cmd
}

func (t task) exportTo(out io.Writer) error {
	resp, err := t.api.do(t.ctx, http.MethodGet, t.path("export"), "", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(out, resp.Body); err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	return nil
}

// exportToFile writes a new file beside the named one, and puts it in its place.
func (t task) exportToFile(name string) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".export-*")
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	defer os.RemoveAll(file.Name())
	if err := errors.Join(t.exportTo(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	return nil
}

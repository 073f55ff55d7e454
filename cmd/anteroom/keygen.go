package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/anteroom-gate/anteroom/cookie"
)

func newKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen",
		Short: "Print a new cookie key",
		Long:  "Print a new cookie key, alone on one line. Put it first in cookie.keys; older keys after it still open the tickets they sealed.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), cookie.NewKey())
			return err
		},
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		},
	}
}

// version is the version of the program, of Go and of the system.
func version() string {
	number := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		number = info.Main.Version
	}
	return fmt.Sprintf("anteroom %s %s %s/%s", number, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

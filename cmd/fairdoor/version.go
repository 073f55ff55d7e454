package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

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

// release is the version that the Makefile stamps into the program; "" in one that `go install` or
// `go run` has built.
var release string

// version is the version of the program, of Go and of the system.
func version() string {
	return fmt.Sprintf("fairdoor %s %s %s/%s", releaseName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// releaseName is the version of the program, "unknown" if nobody knows.
func releaseName() string {
	number := release
	if info, ok := debug.ReadBuildInfo(); ok {
		number = cmp.Or(release, info.Main.Version)
	}
	return cmp.Or(number, "unknown")
}

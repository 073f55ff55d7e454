package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/cookie"
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

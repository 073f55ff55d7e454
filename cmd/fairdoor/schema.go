package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of the configuration file, for editors",
		Long: `Print a JSON Schema of the configuration file, for editors: they complete its
keys, show what each is, and mark what is wrong as you type. In a file that they
read with the YAML language server, the first line names the schema:

  # yaml-language-server: $schema=fairdoor.schema.json`,
		Example: "  fairdoor schema > fairdoor.schema.json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			schema, err := config.Schema()
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", schema)
			}
			return err
		},
	}
}

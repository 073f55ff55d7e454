package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// usageError is a mistake on the command line.
type usageError struct{ error }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "fairdoor",
		Short:         "A waiting room in front of your site",
		Long:          "Fairdoor lets in no more people than your site can serve, and keeps everyone else in an honest line.",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(explainFlag)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newDemoCommand(), newServeCommand(), newValidateCommand(), newSchemaCommand(), newSimulateCommand(),
		newStatusCommand(), newWaitlistCommand(), newKeygenCommand(), newVersionCommand(), newReportCommand(),
		newSetCommand(), newQueueAllCommand(), newPreviewCommand(), newLoadCommand(), newEventsCommand(),
		newVerifyCommand(), newWebhooksCommand(), newPassCommand(), newVisitorCommand(), newImportCommand(), newDocsCommand())
	suggestInCobras(root)
	return root
}

// suggestInCobras has the commands that cobra adds suggest a command, too, for what is none.
func suggestInCobras(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err != nil {
					return usageError{err}
				}
				return noArguments(of, rest)
			}
		case "completion":
			cmd.Args, cmd.RunE = noArguments, root.RunE
		}
	}
}

// noArguments refuses arguments, and suggests a command for one that looks like it.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, one := range cmd.Commands() {
		names = append(names, one.Name())
	}
	hint := didYouMean(args[0], names)
	if cmd.HasSubCommands() {
		return usageError{fmt.Errorf("there is no command %q%s; see %s --help", args[0], hint, cmd.CommandPath())}
	}
	return usageError{fmt.Errorf("%s takes no arguments, and got %q%s", cmd.CommandPath(), args[0], hint)}
}

// didYouMean suggests the nearest of the names that there are; "" where none is near.
func didYouMean(written string, names []string) string {
	if near := spelling.Nearest(written, names); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// takes refuses arguments that do not fit, and says what would.
func takes(what string, fit func(args []string) bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if !fit(args) {
			return usageError{fmt.Errorf("%s; see %s --help", what, cmd.CommandPath())}
		}
		return nil
	}
}

// explainFlag adds a hint to the error about a flag that does not exist: for a secret the variable
// that sets it, else the nearest flag. Behind a command that does not exist, that is what is wrong.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	}
	if before := cmd.Flags().Args(); cmd.HasSubCommands() && len(before) > 0 {
		return noArguments(cmd, before)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	hint := didYouMean("--"+unknown.GetSpecifiedName(), names)
	env := "FAIRDOOR_" + strings.ToUpper(strings.ReplaceAll(unknown.GetSpecifiedName(), "-", "_"))
	if slices.ContainsFunc(config.Keys(), func(k *config.Key) bool { return k.Flag == "" && k.Env == env }) {
		hint = fmt.Sprintf(" (set %s: everybody on the machine can read a program's flags)", env)
	}
	return usageError{fmt.Errorf("%w%s; see %s --help", err, hint, cmd.CommandPath())}
}

package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// completionTime is how long a shell waits for a gate that is asked for names.
const completionTime = 2 * time.Second

// completion is what a shell offers for the arguments of a command that asks a gate. The words say
// what the arguments are, the last of them also those behind it.
func completion(flags *adminFlags, words ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(words) && !(len(words) > 0 && strings.HasSuffix(words[len(words)-1], "…")) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch word := words[min(len(args), len(words)-1)]; word {
		case "on|off":
			return []cobra.Completion{"on", "off"}, cobra.ShellCompDirectiveNoFileComp
		case "KEY=VALUE…":
			var offers []cobra.Completion
			for _, name := range liveSettings() {
				offers = append(offers, name+"=")
			}
			return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		case "ROOM":
			return named(cmd, flags, "rooms"), cobra.ShellCompDirectiveNoFileComp
		case "WAITLIST":
			return named(cmd, flags, "waitlists"), cobra.ShellCompDirectiveNoFileComp
		case "EVENT":
			return named(cmd, flags, "rooms", args[0], "events"), cobra.ShellCompDirectiveNoFileComp
		case "[FILE]":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRoom offers a running gate's rooms for the flag --room.
func completeRoom(cmd *cobra.Command, admin func() *adminFlags) {
	_ = cmd.RegisterFlagCompletionFunc("room", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return named(cmd, admin(), "rooms"), cobra.ShellCompDirectiveNoFileComp
	}) // it fails for a command that has no such flag
}

// named are the names of what is in a list of the admin API; none where the gate does not answer.
func named(cmd *cobra.Command, flags *adminFlags, path ...string) (names []cobra.Completion) {
	api, err := flags.api(cmd)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	list, err := client.Get[[]struct{ Name string }](ctx, api, client.Path(path...))
	if err != nil {
		return nil
	}
	for _, of := range list {
		names = append(names, of.Name)
	}
	return names
}

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/templates"
)

func newValidateCommand() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check a configuration file",
		Long:  "Check a configuration file, and render each room's page in every state. Every fault is told at once, as FILE:LINE:COL: key: what is wrong; the exit code is then 2.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usageError{errors.New("name the file to check: fairdoor validate --config FILE")}
			}
			return validate(cmd.OutOrStdout(), cmd.ErrOrStderr(), file)
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func validate(stdout, stderr io.Writer, file string) error {
	c, warnings, err := newSources(file, nil).load()
	printWarnings(stderr, warnings)
	if err != nil {
		return err
	}
	for _, r := range c.Rooms {
		states, err := renderAll(r)
		if err != nil {
			return fmt.Errorf("room %q: %w", r.Name, err)
		}
		which := "room " + r.Name
		if value := (route.Route{Path: r.Path}).Value(); value != "" {
			which = fmt.Sprintf("rooms %s.{%s}, %d at most", r.Name, value, r.MaxRooms)
		}
		fmt.Fprintf(stdout, "%s: page rendered in %d states\n", which, states)
	}
	fmt.Fprintf(stdout, "%s is valid\n", file)
	return nil
}

// renderAll renders a room's page in every state. It returns the number of states.
func renderAll(r config.Room) (int, error) {
	var custom *templates.Page
	if r.TemplateSource != nil {
		var err error
		if custom, err = templates.Parse(r.TemplateSource); err != nil {
			return 0, err
		}
	}
	set, err := templates.NewSet(templates.Options{Custom: custom, DefaultLanguage: string(r.DefaultTemplateLanguage)})
	if err != nil {
		return 0, err
	}
	states := templates.States()
	for _, s := range states {
		data := s.Data
		data.RoomName = r.Name
		set.Page(set.Default(), data)
		set.JSON(data)
	}
	return len(states), nil
}

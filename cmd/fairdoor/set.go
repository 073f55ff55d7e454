package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

func newSetCommand() *cobra.Command {
	return changeCommand(&cobra.Command{
		Use:   "set ROOM KEY=VALUE…",
		Short: "Change limits and switches of a room, live",
		Long: `Change limits and switches of a room of a running gate, at once and on every gate.
The keys are those of the configuration file. KEY=null goes back to what the file has.

It shows what is changed, and with what those who wait will read a message, and asks
first. Where nobody can answer, --yes is needed.`,
		Example: `  fairdoor set shop total_active_users=800 new_users_per_minute=400
  fairdoor set shop message="Back in five minutes." --yes
  fairdoor set shop total_active_users=null`,
		Args: takes("this takes: fairdoor set ROOM KEY=VALUE…", func(args []string) bool { return len(args) >= 2 }),
	}, parseChanges)
}

func newQueueAllCommand() *cobra.Command {
	return changeCommand(&cobra.Command{
		Use:   "queue-all ROOM on|off",
		Short: "Hold everybody new, or let people in again",
		Long:  "Hold everybody who comes to a room of a running gate, or let people in again: at once, and on every gate. Who is in stays in.",
		Example: `  fairdoor queue-all shop on
  fairdoor queue-all shop off --yes
  fairdoor queue-all shop on --for 5m`,
		Args: takes("this takes: fairdoor queue-all ROOM on, or off", func(args []string) bool {
			return len(args) == 2 && (args[1] == "on" || args[1] == "off")
		}),
	}, func(args []string) (map[string]json.RawMessage, error) {
		return parseChanges([]string{"queue_all=" + args[0]})
	})
}

// changeCommand makes a whole of a command that changes the room of its first argument; parse reads
// the change from the others.
func changeCommand(cmd *cobra.Command, parse func(args []string) (map[string]json.RawMessage, error)) *cobra.Command {
	var flags adminFlags
	var how howToChange
	flags.bind(cmd.Flags())
	cmd.ValidArgsFunction = completion(&flags, strings.Fields(cmd.Use)[1:]...)
	cmd.Flags().BoolVarP(&how.yes, "yes", "y", false, "ask nothing")
	cmd.Flags().DurationVar(&how.lasts, "for", 0, "how long the change lasts, such as 5m: then all is as it was before (default: until somebody changes it)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		patch, err := parse(args[1:])
		if err != nil {
			return err
		}
		return changeRoom(cmd, &flags, args[0], patch, how)
	}
	return cmd
}

// howToChange says how a change is made.
type howToChange struct {
	yes   bool          // without a question
	lasts time.Duration // 0 for good
}

// parseChanges reads changes as they are written on the command line. Whether the values fit with
// each other is for the gate to say.
func parseChanges(args []string) (map[string]json.RawMessage, error) {
	patch := map[string]json.RawMessage{}
	for _, arg := range args {
		key, value, found := strings.Cut(arg, "=")
		if _, twice := patch[key]; !found || key == "" || twice {
			return nil, usageError{fmt.Errorf("%q is not KEY=VALUE with a key of its own; see fairdoor set --help", arg)}
		}
		f := queue.Setting(key)
		if f == nil {
			return nil, usageError{fmt.Errorf("there is no setting %q%s", key, nearestSetting(key))}
		}
		form, problem := asJSON(f, value)
		if problem != "" {
			return nil, usageError{fmt.Errorf("%s: %q %s", key, value, problem)}
		}
		patch[key] = form
	}
	return patch, nil
}

// nearestSetting suggests a setting for a name that none has.
func nearestSetting(key string) string {
	names := liveSettings()
	if hint := didYouMean(key, names); hint != "" {
		return hint
	}
	return "; those that can be changed are " + strings.Join(names, ", ")
}

// liveSettings are the names of the settings that change while a room runs.
func liveSettings() (names []string) {
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		if f.Live {
			names = append(names, f.Name)
		}
	}
	return names
}

// asJSON is a value as the API takes it, or what is wrong with it.
func asJSON(f *setting.Field, value string) (form json.RawMessage, problem string) {
	if value == "null" {
		return json.RawMessage(value), ""
	}
	if f.Type.Kind() == reflect.Bool {
		switch value {
		case "on":
			value = "true"
		case "off":
			value = "false"
		}
	}
	v, problem := f.Parse(value)
	if problem != "" {
		return nil, problem
	}
	form, err := f.JSON(v)
	if err != nil {
		return nil, err.Error()
	}
	return form, ""
}

// changeRoom shows a change of a room, asks whether to make it, and makes it.
func changeRoom(cmd *cobra.Command, flags *adminFlags, room string, patch map[string]json.RawMessage, how howToChange) error {
	api, err := flags.api(cmd)
	if err != nil {
		return err
	}
	before, err := client.Get[map[string]json.RawMessage](cmd.Context(), api, client.Path("rooms", room))
	if err != nil {
		return err
	}
	if err := api.Order(cmd.Context(), http.MethodPost, client.Path("rooms", room, "check"), patch, nil); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if err := showChanges(out, patch, before); err != nil {
		return err
	}
	if err := readTogether(cmd.Context(), api, out, room, patch, before); err != nil {
		return err
	}
	what := "Change " + room + " on every gate"
	if how.lasts > 0 {
		what += " for " + setting.FormatDuration(how.lasts)
	}
	if !how.yes {
		if err := ask(cmd.Context(), cmd.InOrStdin(), out, what); err != nil {
			return err
		}
	}
	after, err := makeChange(cmd.Context(), api, room, patch, before, how.lasts)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s is changed, on every gate.\n%s", room, notYet(patch, after.OverriddenByEvent))
	return err
}

// makeChange makes a change of a room. A queue_all that operators switch off is as in the file
// again, unless the file has it on.
func makeChange(ctx context.Context, api client.API, room string, patch, before map[string]json.RawMessage, lasts time.Duration) (after admin.RoomJSON, err error) {
	var overrides map[string]json.RawMessage
	if err := json.Unmarshal(before["overrides"], &overrides); err != nil {
		return after, fmt.Errorf("reading what operators have changed: %w", err)
	}
	override, isChanged := overrides["queue_all"]
	mayGoBack := string(override) == "true" || !isChanged && string(before["queue_all"]) == "false"
	if lasts > 0 {
		return after, api.Order(ctx, http.MethodPatch, client.Path("rooms", room)+"?for="+lasts.String(), patch, &after)
	}
	if string(patch["queue_all"]) == "false" && mayGoBack {
		back := maps.Clone(patch)
		back["queue_all"] = json.RawMessage("null")
		err = api.Order(ctx, http.MethodPatch, client.Path("rooms", room), back, &after)
		if err != nil || !after.Settings.QueueAll {
			return after, err
		}
	}
	return after, api.Order(ctx, http.MethodPatch, client.Path("rooms", room), patch, &after)
}

// notYet says which settings of a patch are not in force yet, because the event in force has them
// of its own.
func notYet(patch map[string]json.RawMessage, ofEvent []string) string {
	var told string
	for _, name := range ofEvent {
		switch _, changed := patch[name]; {
		case changed && name == "queue_all":
			told += "But the prequeue of an event holds everyone new until the event starts. To end it, suspend the event.\n"
		case changed:
			told += "But an event that is in force has its own " + name + ": the change counts when the event is over.\n"
		}
	}
	return told
}

// showChanges writes what a patch changes of a room.
func showChanges(out io.Writer, patch, before map[string]json.RawMessage) error {
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		value, changed := patch[f.Name]
		if !changed {
			continue
		}
		then := row(inWords(value))
		if string(value) == "null" {
			then = "as in the file"
		}
		fmt.Fprintf(table, "%s\t%s\t→ %s\n", f.Name, row(inWords(before[f.Name])), then)
	}
	return table.Flush()
}

// readTogether writes with what those who wait will read a message, if it is to be asked.
func readTogether(ctx context.Context, api client.API, out io.Writer, room string, patch, before map[string]json.RawMessage) error {
	status, err := client.Get[admin.StatusJSON](ctx, api, client.Path("rooms", room, "status"))
	if err != nil {
		return err
	}
	after := maps.Clone(before)
	maps.Copy(after, patch)
	maps.DeleteFunc(after, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	var was, then queue.Settings
	for s, values := range map[*queue.Settings]map[string]json.RawMessage{&was: before, &then: after} {
		text, err := json.Marshal(values)
		if err = errors.Join(err, json.Unmarshal(text, s)); err != nil {
			return fmt.Errorf("reading the room's settings: %w", err)
		}
	}
	if told := overrides.ReadTogether(&was, &then, status.Reason); told != "" {
		_, err = fmt.Fprintln(out, told)
	}
	return err
}

// inWords is a value of the API as people read it.
func inWords(value json.RawMessage) string {
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil && text == "":
		return "(empty)"
	case text != "":
		return text
	case string(value) == "true":
		return "on"
	case string(value) == "false":
		return "off"
	}
	return string(value)
}

// errNotChanged means that the operator has said no.
var errNotChanged = errors.New("nothing was changed")

// ask asks the operator whether something is to be done.
func ask(ctx context.Context, in io.Reader, out io.Writer, what string) error {
	if f, ok := in.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return usageError{fmt.Errorf("%w: nobody can be asked here, so say --yes", errNotChanged)}
	}
	fmt.Fprintf(out, "%s? [y/N] ", what)
	answered := make(chan string, 1)
	go func() { // which ends with the program at the latest: a terminal is read until somebody presses enter
		line, _ := bufio.NewReader(in).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(out)
	}
	return errNotChanged
}

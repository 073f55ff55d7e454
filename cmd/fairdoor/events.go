package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

func newEventsCommand() *cobra.Command {
	return adminGroup(&cobra.Command{
		Use:   "events",
		Short: "Plan events of a running gate's rooms",
		Long: `Plan events of the rooms of a running gate, by its admin API.

An event has settings of its own, which are in force from its prequeue, or from
its start if it has none, to its end. All gates that share a store go by it.
Events of the configuration file are changed there.`,
		Example: `  fairdoor events list shop
  fairdoor events create shop winter-sale --timezone Europe/Oslo --prequeue "2026-12-01 08:30" \
    --start "2026-12-01 09:00" --end "2026-12-01 18:00" --shuffle
  fairdoor events update shop winter-sale --total-active-users 800 --new-users-per-minute 500
  fairdoor events order shop winter-sale > order.jsonl
  fairdoor events delete shop winter-sale`,
	}, newEventsListCommand, newEventCreateCommand, newEventUpdateCommand, newEventDeleteCommand, newEventDetailsCommand, newEventOrderCommand)
}

// eventPath is a resource of the events of the room that the first argument names.
func (t task) eventPath(names ...string) string {
	return client.Path(append([]string{"rooms", t.args[0], "events"}, names...)...)
}

func newEventsListCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "list ROOM", "List the events of a room", func(t task) error {
		events, err := client.Get[[]admin.EventJSON](t.ctx, t.api, t.eventPath())
		if err != nil {
			return err
		}
		return table(t, "EVENT\tPHASE\tPREQUEUE\tSTART\tEND\tSHUFFLE\tFROM", events, func(e admin.EventJSON) []any {
			prequeue, from := "-", "API"
			if !e.Prequeue.IsZero() {
				prequeue = e.Prequeue.Format(time.RFC3339)
			}
			if e.FromFile {
				from = "file"
			}
			if e.Suspended {
				e.Phase = "suspended"
			}
			return []any{e.Name, e.Phase, prequeue, e.Start.Format(time.RFC3339), e.End.Format(time.RFC3339), e.Shuffle, from}
		})
	})
}

// eventFlags are what create and update take.
type eventFlags struct {
	set  *pflag.FlagSet
	all  []eventFlag
	page string
	rest []string // the fields that are left to the room
}

// eventFlag is a flag, and the field of an event that it sets.
type eventFlag struct {
	flag, field string
	value       func() any
}

func (f *eventFlags) bind(set *pflag.FlagSet) {
	f.set = set
	f.set.SortFlags = false
	f.text("start", "event_start_time", `when the event starts: 2026-12-01T09:00:00+01:00, or "2026-12-01 09:00" with --timezone`)
	f.text("end", "event_end_time", "when the event ends, at least a minute after the start")
	f.text("prequeue", "prequeue_start_time", "from when everyone new is held, at least five minutes before the start")
	f.text("timezone", "timezone", "IANA zone of the times without an offset, such as Europe/Oslo")
	f.on("shuffle", "shuffle_at_event_start", "give those who come in the prequeue a random order")
	f.on("suspended", "suspended", "have the event be ignored")
	f.text("description", "description", "note for humans")
	f.set.StringVar(&f.page, "page", "", "Mustache file of the page in the event")
	for _, name := range event.Overridable() {
		s, flag := queue.Setting(name), strings.ReplaceAll(name, "_", "-")
		switch s.Wants() {
		case "true or false":
			f.on(flag, name, s.Usage)
		case "a whole number":
			value := f.set.Int(flag, 0, s.Usage)
			f.all = append(f.all, eventFlag{flag, name, func() any { return *value }})
		default:
			f.text(flag, name, s.Usage)
		}
	}
}

func (f *eventFlags) text(flag, field, usage string) {
	value := f.set.String(flag, "", usage)
	f.all = append(f.all, eventFlag{flag, field, func() any { return *value }})
}

func (f *eventFlags) on(flag, field, usage string) {
	value := f.set.Bool(flag, false, usage)
	f.all = append(f.all, eventFlag{flag, field, func() any { return *value }})
}

// body is the event as the API takes it: the flags that are given.
func (f *eventFlags) body() (map[string]any, error) {
	body := map[string]any{}
	for _, flag := range f.all {
		if f.set.Changed(flag.flag) {
			body[flag.field] = flag.value()
		}
	}
	if f.page != "" {
		source, err := os.ReadFile(f.page)
		if err != nil {
			return nil, fmt.Errorf("reading the page: %w", err)
		}
		body["custom_page_html"] = string(source)
	}
	for _, field := range f.rest {
		body[field] = nil
	}
	return body, nil
}

func newEventCreateCommand(flags *adminFlags) *cobra.Command {
	var given eventFlags
	cmd := adminTask(flags, "create ROOM EVENT", "Plan an event", func(t task) error {
		body, err := given.body()
		if err != nil {
			return err
		}
		body["name"] = t.args[1]
		return t.change(http.MethodPost, t.eventPath(), body)
	})
	given.bind(cmd.Flags())
	return cmd
}

func newEventUpdateCommand(flags *adminFlags) *cobra.Command {
	var given eventFlags
	cmd := adminTask(flags, "update ROOM EVENT", "Change an event", func(t task) error {
		body, err := given.body()
		if err != nil {
			return err
		}
		if len(body) == 0 {
			return usageError{fmt.Errorf("say what to change; see fairdoor events update --help")}
		}
		return t.change(http.MethodPatch, t.eventPath(t.args[1]), body)
	})
	given.bind(cmd.Flags())
	cmd.Flags().StringSliceVar(&given.rest, "inherit", nil, "what the event leaves to the room again, such as session_duration")
	return cmd
}

// change sends an event, and says when it is.
func (t task) change(method, path string, body map[string]any) error {
	var e event.Event
	if err := t.api.Order(t.ctx, method, path, body, &e); err != nil {
		return err
	}
	begins := ""
	if !e.Prequeue.IsZero() {
		begins = ", with a prequeue from " + e.Prequeue.Format(time.RFC3339)
	}
	return t.say("The event %s goes from %s to %s%s.", e.Name, e.Start.Format(time.RFC3339), e.End.Format(time.RFC3339), begins)
}

func newEventDeleteCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "delete ROOM EVENT", "Delete an event; one that is in force ends", func(t task) error {
		return t.order(http.MethodDelete, t.eventPath(t.args[1]), nil, "The event %s is deleted.", t.args[1])
	})
}

func newEventDetailsCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "details ROOM EVENT", "Show what the room goes by once the event has started", func(t task) error {
		path := t.eventPath(t.args[1], "details")
		return t.copyTo(t.out, path, "reading what the gate said of "+path)
	})
}

func newEventOrderCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "order ROOM EVENT", "Write the order of a shuffled prequeue, for fairdoor verify", func(t task) error {
		path := t.eventPath(t.args[1], "order")
		return t.copyTo(t.out, path, "reading what the gate said of "+path)
	})
	cmd.Long = `Write the order of a shuffled prequeue that is over, as lines of JSON. Each gate has
the entries of those who came to it: ask each, and give all files to fairdoor verify.`
	return cmd
}

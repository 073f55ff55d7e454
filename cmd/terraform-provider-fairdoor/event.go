package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// plannedEvent is an event of a room. A setting without a value is left to the room.
var plannedEvent = &kind{
	name: "event",
	id:   []string{"room", "name"},
	schema: schema.Schema{
		Description: "An event of a room. Those of the configuration file are changed there.",
		Attributes: withSettings(map[string]schema.Attribute{
			"room":                   named("Name of the room."),
			"name":                   named("Name of the event: letters, digits, - and _."),
			"description":            schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(""), Description: "Note for humans."},
			"event_start_time":       schema.StringAttribute{Required: true, Description: "As in 2026-12-01T09:00:00+01:00, or without an offset beside a timezone."},
			"event_end_time":         schema.StringAttribute{Required: true, Description: "At least a minute after the start."},
			"prequeue_start_time":    schema.StringAttribute{Optional: true, Description: "From when everyone new is held: at least five minutes before the start."},
			"timezone":               schema.StringAttribute{Optional: true, Description: "Of times without an offset, such as Europe/Oslo."},
			"shuffle_at_event_start": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), Description: "Give those who come in the prequeue a random order."},
			"suspended":              schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), Description: "Have the event be ignored."},
			"custom_page_html":       schema.StringAttribute{Optional: true, Description: "Mustache source of the page in the event."},
		}, overridable()),
	},
	create: func(ctx context.Context, api client.API, plan object) (now told, err error) {
		err = api.Order(ctx, http.MethodPost, client.Path("rooms", plan.text("room"), "events"), eventBody(plan), &now)
		if errors.Is(err, client.StatusError(http.StatusConflict)) {
			err = fmt.Errorf("%w Or import it: terraform import fairdoor_event.NAME %s/%s", err, plan.text("room"), plan.text("name"))
		}
		return now, err
	},
	read: func(ctx context.Context, api client.API, state object) (told, error) {
		now, err := client.Get[told](ctx, api, eventPath(state))
		if err == nil && string(now["from_file"]) == "true" {
			return nil, errors.New("the event is in the gate's configuration file, and is changed there: remove it there, or have Terraform forget it (terraform state rm)")
		}
		return now, err
	},
	update: func(ctx context.Context, api client.API, _, plan object) (now told, err error) {
		err = api.Order(ctx, http.MethodPut, eventPath(plan), eventBody(plan), &now)
		return now, err
	},
	remove: func(ctx context.Context, api client.API, state object) error {
		return api.Order(ctx, http.MethodDelete, eventPath(state), nil, nil)
	},
	check: eventFaults,
}

// overridable are the settings that an event may have of its own.
func overridable() (settings []*setting.Field) {
	for _, name := range event.Overridable() {
		settings = append(settings, queue.Setting(name))
	}
	return settings
}

func eventPath(of object) string {
	return client.Path("rooms", of.text("room"), "events", of.text("name"))
}

func eventBody(plan object) map[string]json.RawMessage {
	names := []string{"name", "description", "event_start_time", "event_end_time", "prequeue_start_time", "timezone", "shuffle_at_event_start", "suspended", "custom_page_html"}
	return body(plan, append(names, event.Overridable()...)...)
}

// eventFaults says what is wrong with an event by itself. While something of it is not known, only
// what cannot be read is said.
func eventFaults(config object) map[string]string {
	text, err := json.Marshal(eventBody(config))
	if err != nil {
		return nil
	}
	e, faults, _ := event.Event{}.Patched(text) // it is an object
	if config.known() && len(faults) == 0 {
		faults = e.Faults()
	}
	all := map[string]string{}
	for _, f := range faults {
		all[f.Field] = f.Problem
	}
	return all
}

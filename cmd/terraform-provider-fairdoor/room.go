package main

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// room is what operators have changed of a room that the configuration file of a gate has. A
// setting without a value is as in the file.
var room = &kind{
	name: "room",
	id:   []string{"name"},
	schema: schema.Schema{
		Description: "Live settings of a room, over those of the gate's configuration file, on every gate. What is not set is as in the file, and so is everything once the resource is gone.",
		Attributes:  withSettings(map[string]schema.Attribute{"name": named("Name of the room in the configuration file.")}, liveSettings()),
	},
	create: func(ctx context.Context, api client.API, plan object) (told, error) {
		return nil, changeRoom(ctx, api, nil, plan)
	},
	read: readRoom,
	update: func(ctx context.Context, api client.API, state, plan object) (told, error) {
		return nil, changeRoom(ctx, api, state, plan)
	},
	remove: func(ctx context.Context, api client.API, state object) error {
		return changeRoom(ctx, api, state, object{"name": state["name"]})
	},
	check: func(config object) map[string]string { return settingFaults(config, liveSettings()) },
	ask: func(ctx context.Context, api client.API, state, plan object) error {
		patch := roomPatch(state, plan)
		if len(patch) == 0 || plan.text("name") == "" {
			return nil
		}
		return api.Order(ctx, http.MethodPost, client.Path("rooms", plan.text("name"), "check"), patch, nil)
	},
}

// liveSettings are the settings that change while a room runs.
func liveSettings() (live []*setting.Field) {
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		if f.Live {
			live = append(live, queue.Setting(f.Name))
		}
	}
	return live
}

func readRoom(ctx context.Context, api client.API, state object) (told, error) {
	now, err := client.Get[struct {
		Overrides told `json:"overrides"`
	}](ctx, api, client.Path("rooms", state.text("name")))
	all := told{}
	for _, f := range liveSettings() {
		all[f.Name] = now.Overrides[f.Name]
	}
	return all, err
}

// roomPatch is the change from a state to a plan, as far as that is known; null goes back to what
// the file has.
func roomPatch(state, plan object) told {
	patch := told{}
	for _, f := range liveSettings() {
		if next := plan.json(f.Name); next != nil && !means(plan, f.Name, next, state.json(f.Name)) {
			patch[f.Name] = next
		}
	}
	return patch
}

// changeRoom changes what the plan has changed, and nothing else: what operators have changed
// meanwhile the next plan shows.
func changeRoom(ctx context.Context, api client.API, state, plan object) error {
	return api.Order(ctx, http.MethodPatch, client.Path("rooms", plan.text("name")), roomPatch(state, plan), nil)
}

// withSettings adds settings to attributes.
func withSettings(attributes map[string]schema.Attribute, settings []*setting.Field) map[string]schema.Attribute {
	for _, f := range settings {
		usage := strings.ToUpper(f.Usage[:1]) + f.Usage[1:] + ": " + f.Wants() + "."
		switch {
		case f.IsList():
			attributes[f.Name] = schema.ListNestedAttribute{Optional: true, Description: usage, NestedObject: schema.NestedAttributeObject{Attributes: itemAttributes}}
		case f.Wants() == "a whole number":
			attributes[f.Name] = schema.Int64Attribute{Optional: true, Description: usage}
		case f.Type.Kind() == reflect.Float64:
			attributes[f.Name] = schema.Float64Attribute{Optional: true, Description: usage}
		case f.Type.Kind() == reflect.Bool:
			attributes[f.Name] = schema.BoolAttribute{Optional: true, Description: usage}
		default:
			attributes[f.Name] = schema.StringAttribute{Optional: true, Description: usage}
		}
	}
	return attributes
}

// itemAttributes are those of a queue.Item.
var itemAttributes = map[string]schema.Attribute{
	"name":     schema.StringAttribute{Required: true, Description: "What it is called."},
	"price":    schema.StringAttribute{Optional: true, Description: "As people read it."},
	"left":     schema.Int64Attribute{Optional: true, Description: "How many are left, where that is known."},
	"sold_out": schema.BoolAttribute{Optional: true, Description: "None is left."},
}

// named is an attribute that names what a resource is of, or the resource itself.
func named(description string) schema.Attribute {
	return schema.StringAttribute{Required: true, Description: description, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}}
}

// settingFaults says what is wrong with settings, each by itself.
func settingFaults(config object, settings []*setting.Field) map[string]string {
	faults := map[string]string{}
	for _, f := range settings {
		value := config.json(f.Name)
		if value == nil || string(value) == "null" {
			continue
		}
		if _, err := f.ParseJSON(value); err != nil {
			faults[f.Name] = err.Error()
		}
	}
	return faults
}

// body is what a plan has of attributes, as the API takes them; what has no value is left out.
func body(plan object, names ...string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, name := range names {
		if value := plan.json(name); value != nil && string(value) != "null" {
			all[name] = value
		}
	}
	return all
}

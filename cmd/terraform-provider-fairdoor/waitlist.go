package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// waitlist is what operators set of a waitlist that the configuration file of a gate has.
var waitlist = &kind{
	name: "waitlist",
	id:   []string{"name"},
	schema: schema.Schema{
		Description: "Whether a waitlist of the configuration file is paused. It is not, once the resource is gone.",
		Attributes: map[string]schema.Attribute{
			"name":   named("Name of the waitlist in the configuration file."),
			"paused": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), Description: "Nobody is invited, by hand or by plan. People can sign up and accept, and invites expire."},
		},
	},
	create: func(ctx context.Context, api client.API, plan object) (told, error) {
		return pause(ctx, api, plan, plan.json("paused"))
	},
	read: func(ctx context.Context, api client.API, state object) (told, error) {
		return client.Get[told](ctx, api, client.Path("waitlists", state.text("name")))
	},
	update: func(ctx context.Context, api client.API, _, plan object) (told, error) {
		return pause(ctx, api, plan, plan.json("paused"))
	},
	remove: func(ctx context.Context, api client.API, state object) error {
		_, err := pause(ctx, api, state, json.RawMessage("false"))
		return err
	},
}

func pause(ctx context.Context, api client.API, of object, paused json.RawMessage) (now told, err error) {
	err = api.Order(ctx, http.MethodPatch, client.Path("waitlists", of.text("name")), told{"paused": paused}, &now)
	return now, err
}

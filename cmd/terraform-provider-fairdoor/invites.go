package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// invites are a planned release of a waitlist. One that is done stays in the state, so that it is
// not planned again.
var invites = &kind{
	name: "waitlist_invites",
	id:   []string{"waitlist", "id"},
	schema: schema.Schema{
		Description: "Invites of a waitlist that are planned: at a time, every so often, or both. Any change makes another plan.",
		Attributes: map[string]schema.Attribute{
			"waitlist": named("Name of the waitlist."),
			"people":   schema.Int64Attribute{Required: true, PlanModifiers: []planmodifier.Int64{int64planmodifier.RequiresReplace()}, Description: "How many are invited each time."},
			"at":       schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplace()}, Description: "When the first are invited, as in 2026-12-01T09:00:00Z. Default: at once, where every is set."},
			"every":    schema.StringAttribute{Optional: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}, Description: "How often, such as 1h. Default: once."},
			"id":       lasting("Number of the plan."),
		},
	},
	create: func(ctx context.Context, api client.API, plan object) (told, error) {
		order := body(plan, "at", "every")
		order["count"] = plan.json("people")
		var made onePlan
		err := api.Order(ctx, http.MethodPost, client.Path("waitlists", plan.text("waitlist"), "plans"), order, &made)
		return made.told(), err
	},
	read: func(ctx context.Context, api client.API, state object) (told, error) {
		now, err := client.Get[struct{ Plans []onePlan }](ctx, api, client.Path("waitlists", state.text("waitlist"), "plans"))
		if err != nil {
			return nil, err
		}
		for _, p := range now.Plans {
			if p.ID.String() == state.text("id") {
				was := p.told()
				if state.text("every") != "" {
					delete(was, "at") // it is when the next are invited
				}
				return was, nil
			}
		}
		at, err := time.Parse(time.RFC3339, state.text("at"))
		if err == nil && state.text("every") == "" && at.Before(time.Now()) {
			return nil, nil // it is done
		}
		return nil, client.ErrNotFound
	},
	remove: func(ctx context.Context, api client.API, state object) error {
		return api.Order(ctx, http.MethodDelete, client.Path("waitlists", state.text("waitlist"), "plans", state.text("id")), nil, nil)
	},
}

// onePlan is a plan as the API tells it.
type onePlan struct {
	ID        json.Number
	Count     int
	At, Every string
}

func (p onePlan) told() told {
	now := told{"id": asJSON(p.ID), "people": asJSON(p.Count), "at": asJSON(p.At)}
	if p.Every != "" {
		now["every"] = asJSON(p.Every)
	}
	return now
}

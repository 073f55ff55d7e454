package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// pass is a link and a code that let people in or ahead. A pass does not change: another takes its
// place. One that somebody has revoked is gone; one that has expired is not made again.
var pass = &kind{
	name: "pass",
	id:   []string{"room", "id"},
	schema: schema.Schema{
		Description: "A pass of a room that takes passes: a link and a code. Any change makes another pass. Removing it revokes it.",
		Attributes: map[string]schema.Attribute{
			"room":         named("Name of the room."),
			"name":         named("Name by which you know the pass."),
			"kind":         named("What it is good for: in takes the next slot, ahead is ahead of everybody without a pass, join may join a room that lets in nobody else."),
			"uses":         schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(1), PlanModifiers: []planmodifier.Int64{int64planmodifier.RequiresReplace()}, Description: "How many people may use it. Default: 1."},
			"good_for":     schema.StringAttribute{Optional: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}, Description: "How long it is good from when it is made, such as 24h; or else expires_at."},
			"expires_at":   schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplace()}, Description: "Until when it is good, as in 2026-12-01T18:00:00Z."},
			"end_sessions": schema.BoolAttribute{Optional: true, Description: "End what its holders have when it is removed: sessions, and places in an exact line."},
			"id":           lasting("Id of the pass."),
			"code":         secret("The code. It is known only of a pass that Terraform has made."),
			"link":         secret("Path and query of the link, on a host of the room. It is known only of a pass that Terraform has made."),
		},
	},
	create: func(ctx context.Context, api client.API, plan object) (told, error) {
		order := body(plan, "name", "kind", "uses")
		for name, field := range map[string]string{"good_for": "for", "expires_at": "expiresAt"} {
			if value := body(plan, name)[name]; value != nil {
				order[field] = value
			}
		}
		var made passes
		if err := api.Order(ctx, http.MethodPost, client.Path("rooms", plan.text("room"), "passes"), order, &made); err != nil {
			return nil, err
		}
		if len(made.Passes) == 0 {
			return nil, errors.New("the gate has made no pass, and says no more")
		}
		now := made.Passes[0].told()
		now["code"], now["link"] = asJSON(made.Passes[0].Code), asJSON(made.Passes[0].Link)
		return now, nil
	},
	read: readPass,
	update: func(context.Context, client.API, object, object) (told, error) {
		return nil, nil // end_sessions is for the end
	},
	remove: func(ctx context.Context, api client.API, state object) error {
		path := client.Path("rooms", state.text("room"), "passes", state.text("id"))
		if string(state.json("end_sessions")) == "true" {
			path += "?end_sessions=true"
		}
		return api.Order(ctx, http.MethodDelete, path, nil, nil)
	},
}

// lasting is what the gate says once.
func lasting(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, Description: description, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
}

func secret(description string) schema.StringAttribute {
	a := lasting(description)
	a.Sensitive = true
	return a
}

// passes are those of a room, as the API tells them.
type passes struct{ Passes []onePass }

type onePass struct {
	ID, Name, Kind, ExpiresAt string
	Uses                      int
	Code, Link                string // told only of a pass that was made just now
	RevokedAt                 *string
}

func (p onePass) told() told {
	return told{"id": asJSON(p.ID), "name": asJSON(p.Name), "kind": asJSON(p.Kind), "uses": asJSON(p.Uses), "expires_at": asJSON(p.ExpiresAt)}
}

// asJSON writes a text or a number.
func asJSON(value any) json.RawMessage {
	text, _ := json.Marshal(value) // which these can always be
	return text
}

// readPass finds a pass among those of its room.
func readPass(ctx context.Context, api client.API, state object) (told, error) {
	path := client.Path("rooms", state.text("room"), "passes")
	for after := ""; ; {
		page, err := client.Get[passes](ctx, api, path+"?limit=1000&after="+url.QueryEscape(after))
		if err != nil {
			return nil, err
		}
		for _, p := range page.Passes {
			if p.ID == state.text("id") && p.RevokedAt == nil {
				return p.told(), nil
			}
			after = p.ID
		}
		if len(page.Passes) > 0 {
			continue
		}
		if ends, err := time.Parse(time.RFC3339, state.text("expires_at")); err == nil && ends.Before(time.Now()) {
			return nil, nil // the gate has forgotten it
		}
		return nil, client.ErrNotFound
	}
}

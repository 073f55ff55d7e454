package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// kind is a kind of resources. What its functions return is what the gate says, under the names of
// the attributes; what it does not say is as it was planned.
type kind struct {
	name   string // behind fairdoor_
	schema schema.Schema
	id     []string // the attributes of which an id for import is made, with slashes between them

	create func(ctx context.Context, api client.API, plan object) (told, error)
	// read fails with client.ErrNotFound for what there is no more.
	read func(ctx context.Context, api client.API, state object) (told, error)
	// update is not called for a change that needs another resource.
	update func(ctx context.Context, api client.API, state, plan object) (told, error)
	remove func(ctx context.Context, api client.API, state object) error

	// check says what is wrong with a configuration, by itself: what it says of attributes, by
	// their names. nil: nothing is said.
	check func(config object) map[string]string
	// ask asks the gate what is wrong with a plan. nil: it cannot be asked.
	ask func(ctx context.Context, api client.API, state, plan object) error
}

// told is what a gate says of a resource, by the names of attributes.
type told map[string]json.RawMessage

// managed has resources of a kind kept by Terraform.
type managed struct {
	*kind
	api *client.API // nil while it is not known
}

// Metadata implements [resource.Resource].
func (m *managed) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + m.name
}

// Schema implements [resource.Resource].
func (m *managed) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = m.schema
}

// Configure implements [resource.ResourceWithConfigure].
func (m *managed) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	m.api, _ = req.ProviderData.(*client.API)
}

// ValidateConfig implements [resource.ResourceWithValidateConfig].
func (m *managed) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	config, err := objectOf(req.Config.Raw)
	if failed(&resp.Diagnostics, "The configuration cannot be read", err) || m.check == nil {
		return
	}
	for name, problem := range m.check(config) {
		resp.Diagnostics.AddAttributeError(path.Root(name), "This cannot be what "+name+" is", name+" "+problem+".")
	}
}

// ModifyPlan implements [resource.ResourceWithModifyPlan]: what is only written in another way is
// no change, and a plan that the gate would refuse fails. A gate that is not there yet refuses
// nothing.
func (m *managed) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	state, stateErr := objectOf(req.State.Raw)
	plan, err := objectOf(req.Plan.Raw)
	if failed(&resp.Diagnostics, "The plan cannot be read", errors.Join(stateErr, err)) || plan == nil {
		return
	}
	for name, was := range state {
		if next := plan.json(name); next != nil && means(plan, name, next, state.json(name)) {
			plan[name] = was
		}
	}
	resp.Plan.Raw = tftypes.NewValue(req.Plan.Raw.Type(), map[string]tftypes.Value(plan))
	if m.ask == nil || m.api == nil {
		return
	}
	if err = m.ask(ctx, *m.api, state, plan); errors.As(err, new(client.StatusError)) {
		failed(&resp.Diagnostics, "The gate will not do this", err)
	}
}

// Create implements [resource.Resource].
func (m *managed) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, err := objectOf(req.Plan.Raw)
	var now told
	if err == nil {
		now, err = m.create(ctx, *m.api, plan)
	}
	if !failed(&resp.Diagnostics, "Making this has failed", err) {
		keep(&resp.State, &resp.Diagnostics, plan, now)
	}
}

// Read implements [resource.Resource].
func (m *managed) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if m.api == nil {
		return
	}
	state, err := objectOf(req.State.Raw)
	var now told
	if err == nil {
		now, err = m.read(ctx, *m.api, state)
	}
	switch {
	case errors.Is(err, client.ErrNotFound):
		resp.State.RemoveResource(ctx)
	case !failed(&resp.Diagnostics, "The gate does not say how this is", err):
		keep(&resp.State, &resp.Diagnostics, state, now)
	}
}

// Update implements [resource.Resource].
func (m *managed) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	state, stateErr := objectOf(req.State.Raw)
	plan, err := objectOf(req.Plan.Raw)
	var now told
	if err = errors.Join(stateErr, err); err == nil {
		now, err = m.update(ctx, *m.api, state, plan)
	}
	if !failed(&resp.Diagnostics, "Changing this has failed", err) {
		keep(&resp.State, &resp.Diagnostics, plan, now)
	}
}

// Delete implements [resource.Resource]. What there is no more is removed.
func (m *managed) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	state, err := objectOf(req.State.Raw)
	if err == nil {
		err = m.remove(ctx, *m.api, state)
	}
	if !errors.Is(err, client.ErrNotFound) {
		failed(&resp.Diagnostics, "Removing this has failed", err)
	}
}

// ImportState implements [resource.ResourceWithImportState].
func (m *managed) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	parts := strings.SplitN(req.ID, "/", len(m.id))
	if len(parts) != len(m.id) || slices.Contains(parts, "") {
		resp.Diagnostics.AddError("Nothing was imported", fmt.Sprintf("The id of a fairdoor_%s is %s, and not %q.", m.name, strings.ToUpper(strings.Join(m.id, "/")), req.ID))
		return
	}
	for i, name := range m.id {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), parts[i])...)
	}
}

// failed notes an error, with what to do about it, and says whether there is one.
func failed(diagnostics *diag.Diagnostics, summary string, err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	if errors.Is(err, client.StatusError(http.StatusUnauthorized)) || errors.Is(err, client.StatusError(http.StatusForbidden)) {
		text += " Set token in the provider's block, or FAIRDOOR_ADMIN_TOKEN, to a token of an operator."
	}
	diagnostics.AddError(summary, text)
	return true
}

// keep makes the state what the gate says now. An attribute that is still as it was planned, in
// other words, stays as it is written.
func keep(state *tfsdk.State, diagnostics *diag.Diagnostics, planned object, now told) {
	typ, _ := state.Schema.Type().TerraformType(context.Background()).(tftypes.Object)
	values := map[string]tftypes.Value{}
	for name, attribute := range typ.AttributeTypes {
		said, isSaid := now[name]
		was := planned.json(name)
		if was != nil && (!isSaid || means(planned, name, was, said)) {
			values[name] = planned[name]
			continue
		}
		var err error
		if values[name], err = valueOf(attribute, said); failed(diagnostics, "What the gate says of "+name+" cannot be read", err) {
			return
		}
	}
	state.Raw = tftypes.NewValue(typ, values)
}

// means says whether two values of an attribute are one: a setting, a time or a duration can be
// written in several ways.
func means(of object, name string, one, other json.RawMessage) bool {
	if other == nil {
		other = json.RawMessage("null")
	}
	if string(one) == string(other) || string(one) == "null" || string(other) == "null" {
		return string(one) == string(other)
	}
	var a, b string
	switch f := queue.Setting(name); {
	case f != nil:
		v, err := f.ParseJSON(one)
		w, otherErr := f.ParseJSON(other)
		return err == nil && otherErr == nil && f.Text(v) == f.Text(w)
	case json.Unmarshal(one, &a) != nil || json.Unmarshal(other, &b) != nil:
		return false
	case name == "every":
		d, err := time.ParseDuration(a)
		e, otherErr := time.ParseDuration(b)
		return err == nil && otherErr == nil && d == e
	case slices.Contains([]string{"event_start_time", "event_end_time", "prequeue_start_time", "expires_at", "at"}, name):
		zone, _ := event.Zone(of.text("timezone"))
		at, problem := event.Moment(a, zone)
		is, otherProblem := event.Moment(b, nil)
		return problem == "" && otherProblem == "" && at.Equal(is)
	}
	return false
}

package main_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	provider "github.com/fairdoor-gate/fairdoor/cmd/terraform-provider-fairdoor"
)

// terraform asks the provider by the plugin's protocol as Terraform does, and holds it to what
// Terraform does. It has at most one resource of each kind.
type terraform struct {
	t       *testing.T
	server  tfprotov6.ProviderServer
	schemas map[string]*tfprotov6.Schema
	state   map[string]tftypes.Value
	another bool // the last plan is for another resource in the place of the one that there is
}

// block is a block of a configuration.
type block map[string]any

// unknown is a value that is known after apply.
const unknown = "(known after apply)"

// begin starts the provider with a block.
func begin(t *testing.T, of block) *terraform {
	t.Helper()
	tf, faults := tryBegin(t, of)
	require.Empty(t, faults)
	return tf
}

func tryBegin(t *testing.T, of block) (*terraform, []string) {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New())()
	require.NoError(t, err)
	said, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	require.Empty(t, faults(said.Diagnostics))
	tf := &terraform{t: t, server: server, schemas: said.ResourceSchemas, state: map[string]tftypes.Value{}}
	config := dynamic(t, valueOf(t, said.Provider.ValueType(), of))
	valid, err := server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: config})
	require.NoError(t, err)
	done, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config, TerraformVersion: "1.13.0"})
	require.NoError(t, err)
	return tf, append(faults(valid.Diagnostics), faults(done.Diagnostics)...)
}

func faults(diagnostics []*tfprotov6.Diagnostic) (told []string) {
	for _, d := range diagnostics {
		told = append(told, fmt.Sprintf("%s: %s (%v)", d.Summary, d.Detail, d.Attribute))
	}
	return told
}

func (tf *terraform) typ(kind string) tftypes.Object {
	tf.t.Helper()
	require.Contains(tf.t, tf.schemas, kind)
	return tf.schemas[kind].ValueType().(tftypes.Object)
}

// before is the state of a resource, null for none.
func (tf *terraform) before(kind string) tftypes.Value {
	if state, found := tf.state[kind]; found {
		return state
	}
	return tftypes.NewValue(tf.typ(kind), nil)
}

// reads has the state of a resource be what there is.
func (tf *terraform) reads(kind string) (told []string) {
	tf.t.Helper()
	if tf.before(kind).IsNull() {
		return nil
	}
	said, err := tf.server.ReadResource(tf.t.Context(), &tfprotov6.ReadResourceRequest{TypeName: kind, CurrentState: dynamic(tf.t, tf.before(kind))})
	require.NoError(tf.t, err)
	if told = faults(said.Diagnostics); told == nil {
		tf.state[kind] = tf.value(kind, said.NewState)
	}
	return told
}

// plans validates a block and plans it. It returns the plan, null for one with faults.
func (tf *terraform) plans(kind string, of block) (config, planned tftypes.Value, told []string) {
	tf.t.Helper()
	planned = tftypes.NewValue(tf.typ(kind), nil)
	if config = planned; of != nil {
		config = valueOf(tf.t, tf.typ(kind), of)
		valid, err := tf.server.ValidateResourceConfig(tf.t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: kind, Config: dynamic(tf.t, config)})
		require.NoError(tf.t, err)
		if told := faults(valid.Diagnostics); told != nil {
			return config, planned, told
		}
	}
	said, err := tf.server.PlanResourceChange(tf.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: kind, PriorState: dynamic(tf.t, tf.before(kind)), Config: dynamic(tf.t, config), ProposedNewState: dynamic(tf.t, tf.proposed(kind, config)),
	})
	require.NoError(tf.t, err)
	if told := faults(said.Diagnostics); told != nil {
		return config, planned, told
	}
	planned = tf.value(kind, said.PlannedState)
	before, next := fields(tf.t, tf.before(kind)), fields(tf.t, planned)
	tf.another = slices.ContainsFunc(said.RequiresReplace, func(path *tftypes.AttributePath) bool {
		name := string(path.Steps()[0].(tftypes.AttributeName))
		return !next[name].Equal(before[name])
	})
	for name, value := range fields(tf.t, config) {
		if was, found := before[name]; !value.IsNull() && (!found || !was.Equal(next[name])) {
			assert.True(tf.t, value.Equal(next[name]), "%s is planned as %v, and configured as %v", name, next[name], value)
		}
	}
	return config, planned, nil
}

// proposed is what Terraform proposes: the block, and of what the provider computes what there was.
func (tf *terraform) proposed(kind string, config tftypes.Value) tftypes.Value {
	if config.IsNull() {
		return config
	}
	proposed, before := maps.Clone(fields(tf.t, config)), fields(tf.t, tf.before(kind))
	for _, a := range tf.schemas[kind].Block.Attributes {
		switch was, found := before[a.Name]; {
		case !proposed[a.Name].IsNull() || !a.Computed:
		case found:
			proposed[a.Name] = was
		default:
			proposed[a.Name] = tftypes.NewValue(proposed[a.Name].Type(), tftypes.UnknownValue)
		}
	}
	return tftypes.NewValue(config.Type(), proposed)
}

// changes are the attributes that a plan would change now.
func (tf *terraform) changes(kind string, of block) []string {
	tf.t.Helper()
	require.Empty(tf.t, tf.reads(kind))
	_, planned, told := tf.plans(kind, of)
	require.Empty(tf.t, told)
	changed, before := []string{}, fields(tf.t, tf.before(kind))
	for name, value := range fields(tf.t, planned) {
		if was, found := before[name]; !found || !was.Equal(value) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// applies has a resource be as a block says, none for nil, and sees that nothing is left to do.
func (tf *terraform) applies(kind string, of block) {
	tf.t.Helper()
	require.Empty(tf.t, tf.tries(kind, of))
	if of == nil {
		require.True(tf.t, tf.before(kind).IsNull())
		return
	}
	require.Empty(tf.t, tf.changes(kind, of), "what was applied is planned again")
}

// tries is applies, and returns what went wrong.
func (tf *terraform) tries(kind string, of block) []string {
	tf.t.Helper()
	if told := tf.reads(kind); told != nil {
		return told
	}
	config, planned, told := tf.plans(kind, of)
	if told != nil {
		return told
	}
	if tf.another && !tf.before(kind).IsNull() {
		if told := tf.tries(kind, nil); told != nil {
			return told
		}
		return tf.tries(kind, of)
	}
	done, err := tf.server.ApplyResourceChange(tf.t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: kind, PriorState: dynamic(tf.t, tf.before(kind)), Config: dynamic(tf.t, config), PlannedState: dynamic(tf.t, planned),
	})
	require.NoError(tf.t, err)
	if told := faults(done.Diagnostics); told != nil {
		return told
	}
	tf.state[kind] = tf.value(kind, done.NewState)
	applied := fields(tf.t, tf.state[kind])
	for name, value := range fields(tf.t, planned) {
		assert.True(tf.t, applied[name].IsFullyKnown(), "%s is not known after apply", name)
		assert.True(tf.t, !value.IsKnown() || value.Equal(applied[name]), "%s is %v, and was planned as %v", name, applied[name], value)
	}
	return nil
}

// imports takes a resource that there is into the state.
func (tf *terraform) imports(kind, id string) []string {
	tf.t.Helper()
	said, err := tf.server.ImportResourceState(tf.t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: kind, ID: id})
	require.NoError(tf.t, err)
	if told := faults(said.Diagnostics); told != nil {
		return told
	}
	require.Len(tf.t, said.ImportedResources, 1)
	tf.state[kind] = tf.value(kind, said.ImportedResources[0].State)
	return tf.reads(kind)
}

// text is an attribute of the state that is a text; "" for null.
func (tf *terraform) text(kind, name string) string {
	tf.t.Helper()
	var text *string
	require.NoError(tf.t, fields(tf.t, tf.state[kind])[name].As(&text))
	if text == nil {
		return ""
	}
	return *text
}

func (tf *terraform) value(kind string, of *tfprotov6.DynamicValue) tftypes.Value {
	tf.t.Helper()
	v, err := of.Unmarshal(tf.typ(kind))
	require.NoError(tf.t, err)
	return v
}

func fields(t *testing.T, of tftypes.Value) map[string]tftypes.Value {
	t.Helper()
	if of.IsNull() {
		return nil
	}
	var all map[string]tftypes.Value
	require.NoError(t, of.As(&all))
	return all
}

func dynamic(t *testing.T, of tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	d, err := tfprotov6.NewDynamicValue(of.Type(), of)
	require.NoError(t, err)
	return &d
}

// valueOf is a value of a type as a configuration has it.
func valueOf(t *testing.T, typ tftypes.Type, given any) tftypes.Value {
	t.Helper()
	switch of := typ.(type) {
	case tftypes.Object:
		require.IsType(t, block{}, given)
		values := map[string]tftypes.Value{}
		for name, attribute := range of.AttributeTypes {
			values[name] = tftypes.NewValue(attribute, nil)
			if value := given.(block)[name]; value != nil {
				values[name] = valueOf(t, attribute, value)
			}
		}
		for name := range given.(block) {
			require.Contains(t, of.AttributeTypes, name)
		}
		return tftypes.NewValue(typ, values)
	case tftypes.List:
		values := []tftypes.Value{}
		for _, element := range given.([]block) {
			values = append(values, valueOf(t, of.ElementType, element))
		}
		return tftypes.NewValue(typ, values)
	}
	if given == unknown {
		given = tftypes.UnknownValue
	}
	return tftypes.NewValue(typ, given)
}

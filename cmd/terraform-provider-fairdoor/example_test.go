package main_test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
)

func TestTheExampleHasOneOfEachResourceAndWorks(t *testing.T) {
	t.Parallel()
	tf := begin(t, at(serve(t)))
	example := resources(t, "example.tf")
	assert.ElementsMatch(t, slices.Collect(maps.Keys(tf.schemas)), slices.Collect(maps.Keys(example)))
	for kind, of := range example {
		tf.applies(kind, of)
	}
}

// resources are the blocks of the resources in a file, by their kinds.
func resources(t *testing.T, file string) map[string]block {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	read, faults := hclsyntax.ParseConfig(text, file, hcl.InitialPos)
	require.Empty(t, faults)
	all := map[string]block{}
	for _, b := range read.Body.(*hclsyntax.Body).Blocks {
		if b.Type != "resource" {
			continue
		}
		of := block{}
		for name, attribute := range b.Body.Attributes {
			value, faults := attribute.Expr.Value(nil)
			require.Empty(t, faults)
			of[name] = written(t, value)
		}
		all[b.Labels[0]] = of
	}
	return all
}

// written is a text, a number or a switch of a configuration.
func written(t *testing.T, value cty.Value) any {
	t.Helper()
	switch value.Type() {
	case cty.String:
		return value.AsString()
	case cty.Number:
		return value.AsBigFloat()
	case cty.Bool:
		return value.True()
	}
	require.FailNow(t, "the example has a value of another kind", value.GoString())
	return nil
}

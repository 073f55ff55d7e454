package check_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// The modules that hold the schemas: no server is asked for them.
const (
	kubernetes = "sigs.k8s.io/kubectl-validate@v0.0.4" // of Kubernetes 1.30
	compose    = "github.com/compose-spec/compose-go/v2@v2.16.2"
)

// module is the directory of a module of the Go module proxy.
func module(t *testing.T, name string) string {
	t.Helper()
	var m struct{ Dir string }
	require.NoError(t, json.Unmarshal([]byte(run(t, t.TempDir(), nil, "go", "mod", "download", "-json", name)), &m))
	return m.Dir
}

// documents are those of a text in YAML.
func documents(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document map[string]any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if document != nil {
			all = append(all, document)
		}
	}
}

// strict makes a schema refuse what it does not name.
func strict(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"].(map[string]any); ok && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
		for of := range maps.Values(s) {
			strict(of)
		}
	case []any:
		for _, of := range s {
			strict(of)
		}
	}
}

// fault is what the schema of its own kind finds wrong with an object of Kubernetes.
func fault(t *testing.T, dir string, object map[string]any) error {
	t.Helper()
	version, kind := object["apiVersion"].(string), object["kind"].(string)
	group, number, named := strings.Cut(version, "/")
	file, pkg := "apis/"+version, strings.TrimSuffix(group, ".k8s.io")
	if !named {
		file, pkg, number = "api/"+version, "core", version
	}
	document := schemas(t, dir+"/pkg/openapiclient/builtins/1.30/"+file+".json")
	strict(document["components"])
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("kubernetes.json", document))
	schema, err := compiler.Compile("kubernetes.json#/components/schemas/io.k8s.api." + pkg + "." + number + "." + kind)
	require.NoError(t, err)
	return schema.Validate(object)
}

func schemas(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	return document.(map[string]any)
}

func TestTheManifestsAreOfTheirKinds(t *testing.T) {
	dir := module(t, kubernetes)
	all := run(t, repository, nil, "go", "run", helm, "template", "shop", "examples/helm", "--set",
		"ingress.enabled=true,ingress.hosts[0]=shop.example.com,persistence.enabled=false,service.type=LoadBalancer")
	for _, file := range []string{"fairdoor.yaml", "redis.yaml"} {
		text, err := os.ReadFile(repository + "/examples/kubernetes/" + file)
		require.NoError(t, err)
		all += "\n---\n" + string(text)
	}
	objects := documents(t, all)
	assert.Greater(t, len(objects), 12)
	for _, object := range objects {
		assert.NoError(t, fault(t, dir, object), "%v", object["kind"])
	}
	for _, wrong := range []string{"{port: http}", "{name: http, port: http}", "{name: http, port: 80, target: http}"} {
		service := documents(t, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: ["+wrong+"]}}")[0]
		assert.Error(t, fault(t, dir, service), "the schema is one that finds faults: %s", wrong)
	}
}

func TestComposeTakesTheFile(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("compose.json", schemas(t, module(t, compose)+"/schema/compose-spec.json")))
	schema, err := compiler.Compile("compose.json")
	require.NoError(t, err)
	text, err := os.ReadFile(repository + "/examples/compose/compose.yaml")
	require.NoError(t, err)
	file := documents(t, string(text))[0]
	assert.NoError(t, schema.Validate(file))
	file["services"].(map[string]any)["fairdoor"].(map[string]any)["stop_grace"] = "45s"
	assert.Error(t, schema.Validate(file), "the schema is one that finds faults")
}

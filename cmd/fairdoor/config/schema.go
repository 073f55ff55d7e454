package config

import (
	"cmp"
	_ "embed" // for the example
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed fairdoor.yaml
var example string

// Example is a complete configuration file with a comment for every key: the starting point for
// one's own.
func Example() string { return example }

// schema is a part of a JSON Schema (draft 2020-12).
type schema map[string]any

// Schema returns a JSON Schema of the configuration file, for editors. It says what [Load] looks at
// in a key by itself; what has to fit together it leaves to `fairdoor validate`.
func Schema() ([]byte, error) {
	s := topKey.schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Fairdoor"
	return json.MarshalIndent(s, "", "  ")
}

// required are the keys that the mappings of a list cannot do without.
var required = map[string][]string{
	"rooms": {"name", "total_active_users", "new_users_per_minute"}, "rules": {"action", "match"}, "tls.certificates": {"cert", "key"},
	"waitlists": {"name", "room"}, "events": {"name", "event_start_time", "event_end_time"}, "smtp": {"host", "from"},
}

// variables is what a value of another type can be instead, as its text is in the environment.
var variables = schema{"type": "string", "pattern": `\$\{[A-Za-z_][A-Za-z0-9_]*\}`}

func anyOf(parts ...schema) schema { return schema{"anyOf": parts} }

// schema describes the key, and all that is below it.
func (k *Key) schema() schema {
	var s schema
	switch {
	case k.item != nil:
		s = schema{"type": "array", "items": k.item.schema()}
		if k.Tag.Get("single") != "" {
			s = anyOf(s, k.item.schema())
		}
	case k.inner != nil:
		s = k.mappingSchema()
	default:
		s = k.valueSchema()
	}
	if k.Usage != "" {
		s["description"] = strings.ToUpper(k.Usage[:1]) + k.Usage[1:]
	}
	if k.Kind == "duration" {
		s["description"] = fmt.Sprintf("%s; from %s to %s", s["description"], k.Min, k.Max)
	}
	return s
}

func (k *Key) mappingSchema() schema {
	properties := schema{}
	for _, c := range k.inner {
		if c.File {
			properties[c.Field.Name] = c.schema()
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if keys := required[k.Name]; keys != nil {
		s["required"] = keys
	}
	return s
}

func (k *Key) valueSchema() schema {
	s := schema{"type": "string"}
	switch {
	case k.Choices != nil:
		var choices []any
		for _, choice := range k.Choices {
			choices = append(choices, k.literal(choice))
		}
		s = anyOf(schema{"enum": choices}, variables)
	case k.Kind == "json":
		s = schema{"type": "array", "items": schema{"type": "object"}}
	case k.Kind == "bool":
		s = anyOf(schema{"type": "boolean"}, variables)
	case k.Kind == "int" || k.Kind == "number":
		kind := map[string]string{"int": "integer"}[k.Kind]
		s = anyOf(schema{"type": cmp.Or(kind, "number"), "minimum": json.Number(k.Min), "maximum": json.Number(k.Max)}, variables)
	case k.Kind == "duration":
		s = schema{"type": "string", "pattern": `^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$|\$\{`, "examples": []string{"90s", "5m"}}
		if k.Min == "0s" {
			s = anyOf(s, schema{"enum": []int{0}})
		}
	}
	if k.Default != "" {
		s["default"] = k.literal(k.Default)
	}
	return s
}

// literal is a text of the file as JSON has it.
func (k *Key) literal(text string) any {
	if k.isText() || k.Kind == "duration" {
		return text
	}
	return json.RawMessage(text)
}

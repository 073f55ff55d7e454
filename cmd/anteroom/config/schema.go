package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// schema is a part of a JSON Schema (draft 2020-12).
type schema map[string]any

// Schema returns a JSON Schema of the configuration file, for editors. It says what [Load] looks at in a key by itself; what has to fit
// together it leaves to `anteroom validate`.
func Schema() ([]byte, error) {
	s := top.schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Anteroom"
	return json.MarshalIndent(s, "", "  ")
}

// required are the keys that the mappings of a list cannot do without.
var required = map[string][]string{
	"rooms": {"name", "total_active_users", "new_users_per_minute"}, "rules": {"action", "match"}, "tls.certificates": {"cert", "key"},
}

// variables is what a value of another type can be instead, as its text is in the environment.
var variables = schema{"type": "string", "pattern": `\$\{[A-Za-z_][A-Za-z0-9_]*\}`}

// schema describes the field, and all that is below it.
func (f *field) schema() schema {
	s := schema{}
	switch {
	case f.isList():
		s["type"], s["items"] = "array", f.element().schema()
		if f.Tag.Get("single") != "" {
			s = schema{"anyOf": []schema{s, f.element().schema()}}
		}
	case f.isMapping():
		s = f.mappingSchema()
	default:
		s = f.valueSchema()
	}
	if f.Usage != "" {
		s["description"] = strings.ToUpper(f.Usage[:1]) + f.Usage[1:]
	}
	if f.isDuration() {
		s["description"] = fmt.Sprintf("%s; from %s to %s", s["description"], f.Min, f.Max)
	}
	return s
}

func (f *field) mappingSchema() schema {
	properties := schema{}
	for _, c := range f.inner {
		if c.outside() != "only" {
			properties[c.Name] = c.schema()
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if keys := required[f.path]; keys != nil {
		s["required"] = keys
	}
	return s
}

func (f *field) valueSchema() schema {
	var s schema
	switch kind := f.Type.Kind(); {
	case kind == reflect.Bool:
		s = schema{"anyOf": []schema{{"type": "boolean"}, variables}}
	case kind == reflect.Int && f.Choices != nil:
		s = schema{"anyOf": []schema{{"enum": literals(f.Choices)}, variables}}
	case kind == reflect.Int:
		s = schema{"anyOf": []schema{f.bounded("integer"), variables}}
	case kind == reflect.Float64:
		s = schema{"anyOf": []schema{f.bounded("number"), variables}}
	case f.isDuration():
		s = schema{"type": "string", "pattern": `^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$|\$\{`, "examples": []string{"90s", "5m"}}
		if f.Min == "0s" {
			s = schema{"anyOf": []schema{s, {"enum": []int{0}}}}
		}
	case f.Choices != nil:
		s = schema{"anyOf": []schema{{"enum": slices.Clone(f.Choices)}, variables}}
	default:
		s = schema{"type": "string"}
	}
	if f.Default != "" {
		s["default"] = f.literal(f.Default)
	}
	return s
}

func (f *field) isDuration() bool { return f.Type == reflect.TypeFor[time.Duration]() }

func (f *field) bounded(kind string) schema {
	return schema{"type": kind, "minimum": json.Number(f.Min), "maximum": json.Number(f.Max)}
}

// literal is a default as JSON has it.
func (f *field) literal(text string) any {
	switch f.Type.Kind() {
	case reflect.Bool, reflect.Int, reflect.Float64:
		return json.RawMessage(text)
	default:
		return text
	}
}

func literals(texts []string) []json.RawMessage {
	var list []json.RawMessage
	for _, text := range texts {
		list = append(list, json.RawMessage(text))
	}
	return list
}

package config_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// misfits are the places where a value is not what a schema says. It knows as much of JSON Schema
// as the schema uses, and fails for more.
func misfits(t *testing.T, s map[string]any, value any, at string) []string {
	t.Helper()
	var found []string
	wrong := func(keyword string, ok bool) {
		if !ok {
			found = append(found, at+": "+keyword)
		}
	}
	for keyword, arg := range s {
		switch keyword {
		case "$schema", "title", "description", "default", "examples", "items", "properties", "additionalProperties":
		case "type":
			wrong(keyword, typeOf(value) == arg || arg == "number" && typeOf(value) == "integer")
		case "enum":
			wrong(keyword, slices.ContainsFunc(arg.([]any), func(one any) bool { return fmt.Sprint(one) == fmt.Sprint(value) }))
		case "minimum":
			n, isNumber := number(value)
			wrong(keyword, !isNumber || n >= arg.(float64))
		case "maximum":
			n, isNumber := number(value)
			wrong(keyword, !isNumber || n <= arg.(float64))
		case "pattern":
			text, isText := value.(string)
			wrong(keyword, !isText || regexp.MustCompile(arg.(string)).MatchString(text))
		case "required":
			for _, key := range arg.([]any) {
				mapping, _ := value.(map[string]any)
				wrong(keyword+" "+key.(string), mapping[key.(string)] != nil)
			}
		case "anyOf":
			wrong(keyword, slices.ContainsFunc(arg.([]any), func(one any) bool { return misfits(t, one.(map[string]any), value, at) == nil }))
		default:
			t.Fatalf("%s: what is %s?", at, keyword)
		}
	}
	return append(found, misfitsBelow(t, s, value, at)...)
}

func misfitsBelow(t *testing.T, s map[string]any, value any, at string) []string {
	t.Helper()
	var found []string
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			if items, ok := s["items"].(map[string]any); ok {
				found = append(found, misfits(t, items, item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for key, inner := range value {
			if property, ok := properties[key].(map[string]any); ok {
				found = append(found, misfits(t, property, inner, at+"."+key)...)
			} else if s["additionalProperties"] == false {
				found = append(found, at+"."+key+": unknown")
			}
		}
	}
	return found
}

func typeOf(value any) string {
	switch value := value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case int:
		return "integer"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
		return "number"
	}
	return fmt.Sprintf("%T", value)
}

func number(value any) (float64, bool) {
	switch value := value.(type) {
	case int:
		return float64(value), true
	case float64:
		return value, true
	}
	return 0, false
}

func TestTheSchemaSaysWhatValidateSaysOfAValueByItself(t *testing.T) {
	text, err := config.Schema()
	require.NoError(t, err)
	var s map[string]any
	require.NoError(t, json.Unmarshal(text, &s))
	agree := func(name, file string) {
		var value any
		if yaml.Load([]byte(file), &value) != nil {
			return
		}
		_, _, faults := setup{file: file, env: map[string]string{"FIVE": "5"}}.load(t)
		if len(faults) == 0 {
			assert.Empty(t, misfits(t, s, value, ""), "%s is valid:\n%s", name, file)
		}
	}
	agree("the example", config.Example())
	for _, place := range everyPlace() {
		for _, value := range written {
			agree(place, fileWith(place, value))
		}
	}
	for _, file := range []string{
		"origin: 5\nrooms: []", "rooms: {}", "rooms: [{name: a, total_active_users: 1}]", "listn: a", minimal + "    bucket: 5",
		minimal + "    queue_all: 'yes'", minimal + "    refresh_jitter: 0.6", minimal + "    queueing_method: lane", minimal + "    queueing_status_code: 404",
		minimal + "    rules: [{action: bypass_waiting_room}]", minimal + "    rules: [{action: bypass_waiting_room, match: {cidr: {}}}]",
		minimal + "    session_duration: 5 minutes", minimal + "    subject: {token: {keyfile: a}}", "tls: {cert: a}",
	} {
		var value any
		require.NoError(t, yaml.Load([]byte(file), &value))
		assert.NotEmpty(t, misfits(t, s, value, ""), file)
	}
}

func TestTheSchemaHasEveryKeyWithItsDefaultAndItsBounds(t *testing.T) {
	text, err := config.Schema()
	require.NoError(t, err)
	for _, part := range []string{`"default": "fifo"`, `"default": 0.15`, `"maximum": 0.5`, `"minimum": 1`, `; from 1s to 24h"`, `"default": true`,
		`"description": "Visitors that may be active at once"`} {
		assert.Contains(t, string(text), part)
	}
	for _, k := range config.Keys() {
		if k.File {
			assert.Contains(t, string(text), `"`+k.Name[1+lastDot(k.Name):]+`": {`)
		}
	}
}

func lastDot(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return i
		}
	}
	return -1
}

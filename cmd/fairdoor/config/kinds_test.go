package config_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// written are values of every kind, as a file may have them.
var written = []string{
	"", "{a: 1}", "[]", "[a, 5, [b], {c: d}]", "0", "012", "99999999999999999999", "2.5", "5m", "25h", "yes", "'5'", "2026-11-22", "''", "two words", "!!binary x", "${UNSET}", "${FIVE}",
	"/a//b", "http://h:1/p",
}

// with writes a value under a key with dots in it, in flow style; [] after a name is a list of one.
func with(key, value string) string {
	name, rest, deeper := strings.Cut(key, ".")
	if deeper {
		value = "{" + with(rest, value) + "}"
	}
	if name, list := strings.CutSuffix(name, "[]"); list {
		return name + ": [" + value + "]"
	}
	return name + ": " + value
}

// everyPlace is every key of the file, the mappings in between and those that nobody knows; those
// of a room begin with "rooms[].".
func everyPlace() []string {
	places := []string{"cookie", "tls", "tls.certificates[]", "tls.certificates[].cert", "tls.certificates[].key", "log", "nothing", "rooms[].nothing", "rooms[].cookie_attributes",
		"rooms[].subject", "rooms[].subject.token", "rooms[].additional_routes[]", "rooms[].additional_routes[].name", "rooms[].additional_routes[].host",
		"rooms[].additional_routes[].path", "rooms[].rules[]", "rooms[].rules[].action", "rooms[].rules[].match"}
	for _, name := range []string{"path", "path_prefix", "path_suffix", "method", "cidr", "cidr_file", "header", "cookie", "verified_bot", "other"} {
		places = append(places, "rooms[].rules[].match."+name)
	}
	for _, k := range config.Keys() {
		switch {
		case k.File && k.Room:
			places = append(places, "rooms[]."+k.Name)
		case k.File:
			places = append(places, k.Name)
		}
	}
	return places
}

// fileWith is the minimal file with a value at a place.
func fileWith(place, value string) string {
	name, ofRoom := strings.CutPrefix(place, "rooms[].")
	line := with(name, value)
	for _, l := range strings.Split(minimal, "\n") {
		if strings.HasPrefix(strings.TrimLeft(l, " -"), name+":") {
			file := strings.Replace(minimal, l, l[:len(l)-len(strings.TrimLeft(l, " -"))]+line, 1)
			if name == "rooms" {
				file, _, _ = strings.Cut(file, "  - ")
			}
			return file
		}
	}
	if ofRoom {
		line = "    " + line
	}
	return minimal + line + "\n"
}

// TestEveryKeyWithEveryKindOfValue wants the golden file to say what is told of each.
func TestEveryKeyWithEveryKindOfValue(t *testing.T) {
	var b strings.Builder
	try := func(what string, s setup) {
		s.env = map[string]string{"FIVE": "5", "WORD": "word"}
		_, warnings, faults := s.load(t)
		for _, line := range append(warnings, faults...) {
			fmt.Fprintf(&b, "%s\t%s\n", what, strings.TrimPrefix(line, "gate.yaml:"))
		}
	}
	for _, place := range everyPlace() {
		for _, value := range written {
			try(value, setup{file: fileWith(place, value)})
		}
	}
	for _, k := range config.Keys() {
		for _, value := range []string{"5", "012", "2.5", "5m", "1", "yes", "word", "a,b", "/x/", "http://h:1"} {
			if k.Flag != "" {
				try(value, setup{file: minimal, args: []string{"--" + k.Flag + "=" + value}})
			}
		}
	}
	const golden = "testdata/kinds.golden"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}

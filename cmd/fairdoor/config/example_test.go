package config_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestTheExampleHasNeitherFaultsNorWarnings(t *testing.T) {
	_, warnings, faults := setup{file: config.Example()}.load(t)
	assert.Empty(t, faults)
	assert.Empty(t, warnings)
}

// at is the value that a key with dots in it has in a mapping.
func at(m map[string]any, key string) (any, bool) {
	name, rest, deeper := strings.Cut(key, ".")
	val, ok := m[name]
	if !deeper || !ok {
		return val, ok
	}
	inner, ok := val.(map[string]any)
	if !ok {
		return nil, false
	}
	return at(inner, rest)
}

func TestTheExampleHasEveryKeyWithItsDefault(t *testing.T) {
	var top map[string]any
	require.NoError(t, yaml.Load([]byte(config.Example()), &top))
	rooms, ok := top["rooms"].([]any)
	require.True(t, ok)
	room := map[string]any{}
	for _, r := range slices.Backward(rooms) {
		keys, ok := r.(map[string]any)
		require.True(t, ok)
		maps.Copy(room, keys) // the first room's go before
	}
	plain := setup{file: minimal}.mustLoad(t)
	for _, k := range config.Keys() {
		if !k.File {
			continue
		}
		m := top
		if k.Room {
			m = room
		}
		val, ok := at(m, k.Name)
		assert.True(t, ok, "%s is not in the example", k.Name)
		if k.Default != "" {
			text, err := yaml.Dump(val)
			require.NoError(t, err)
			assert.Equal(t, k.Default, strings.Trim(strings.TrimSpace(string(text)), `'"`), "%s is not its default in the example", k.Name)
		}
	}
	for _, name := range []string{"cert", "key", "host", "path", "action", "description", "path_prefix", "path_suffix", "method", "cidr",
		"room", "capacity", "invite_ttl", "confirm_email", "confirm_ttl", "referral_boost", "referral_max", "actions_max", "actions", "title", "points", "most", "keys", "disposable_domains_file", "sign_ups_per_network",
		"url", "mail_templates", "port", "tls", "username", "password", "from", "reply_to",
		"events", "rooms", "secret", "secret_file"} {
		assert.Regexp(t, `[ {]`+name+`:[ \n]`, config.Example())
	}
	example := setup{file: config.Example()}.mustLoad(t)
	beta := config.Waitlist{Name: "beta", Room: "shop", Settings: waitlist.DefaultSettings(), SignUpsPerNetwork: 60, URL: "https://shop.example.com",
		Actions: []config.Action{{Name: "shared", Title: "Told friends", Points: 5, Most: 20}}, SMTP: config.SMTP{TLS: "starttls"}}
	beta.Capacity = 500
	assert.Equal(t, []config.Waitlist{beta}, example.Waitlists, "all but the capacity, the actions and the address are defaults")
	assert.Equal(t, []string{"hooks.example.com"}, example.WebhookHosts)
	assert.Equal(t, "https://hooks.example.com/fairdoor", example.Webhooks[0].URL)
	example.Rooms, example.StateDir, example.Waitlists, example.WebhookHosts, example.Webhooks = plain.Rooms, plain.StateDir, nil, nil, nil
	assert.Equal(t, plain, example, "what the example sets at its top are the defaults")
}

func TestTheExampleSurvivesBeingRewritten(t *testing.T) {
	var doc yaml.Node
	require.NoError(t, yaml.Load([]byte(config.Example()), &doc))
	rewritten, err := yaml.Dump(&doc)
	require.NoError(t, err)
	assert.Equal(t, setup{file: config.Example()}.mustLoad(t), setup{file: string(rewritten)}.mustLoad(t))
}

package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

const signing = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func TestWebhooksAreChecked(t *testing.T) {
	for name, tt := range map[string]struct{ file, fault string }{
		"a host that is not in the list": {"webhooks:\n  - {url: https://b.example.com/, secret: " + signing + "}\n", "webhook_hosts: the list of hosts does not have b.example.com"},
		"a host without TLS":             {"webhooks:\n  - {url: http://a.example.com/, secret: " + signing + "}\n", "it needs https"},
		"no secret":                      {"webhooks:\n  - {url: https://a.example.com/}\n", "secret: is required"},
		"a short secret":                 {"webhooks:\n  - {url: https://a.example.com/, secret: whsec_c2hvcnQ=}\n", "a secret is whsec_"},
		"no address":                     {"webhooks:\n  - {secret: " + signing + "}\n", "url: is required"},
		"an event that there is not":     {"webhooks:\n  - {url: https://a.example.com/, secret: " + signing + ", events: [queued]}\n", "is not one of queueing_began"},
		"a room that there is not":       {"webhooks:\n  - {url: https://a.example.com/, secret: " + signing + ", rooms: [chat]}\n", "there is no such room"},
		"one address twice": {"webhooks:\n  - {url: https://a.example.com/, secret: " + signing + "}\n  - {url: https://a.example.com/, secret: " + signing + "}\n",
			"another webhook has this address already"},
		"a host with a path": {"", `"b/c" is no host`},
	} {
		t.Run(name, func(t *testing.T) {
			hosts := "webhook_hosts: [a.example.com]\n"
			if tt.file == "" {
				hosts = "webhook_hosts: [b/c]\n"
			}
			_, _, faults := setup{file: minimal + hosts + tt.file}.load(t)
			assert.Contains(t, strings.Join(faults, "\n"), tt.fault)
		})
	}
}

func TestAWebhookCanAskForEveryKindOfEvent(t *testing.T) {
	file := minimal + "webhook_hosts: [http://localhost]\nwebhooks:\n  - url: http://localhost:9000/\n    secret: ${HOOK}\n    events: ["
	for _, kind := range webhooks.Kinds() {
		file += string(kind) + ", "
	}
	c := setup{file: file + "]\n", env: map[string]string{"HOOK": signing}}.mustLoad(t)
	require.Len(t, c.Webhooks[0].Events, len(webhooks.Kinds()))
	assert.Equal(t, signing, c.Webhooks[0].Secret)
}

func TestHoldActiveIsWrittenWithoutQuotes(t *testing.T) {
	for _, value := range []string{"off", "ending", "now"} {
		c := setup{file: minimal + "    hold_active: " + value + "\n"}.mustLoad(t)
		assert.Equal(t, value, c.Rooms[0].HoldActive.String())
	}
}

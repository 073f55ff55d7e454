package config_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

const networksInFiles = "trusted_proxies_file: proxies\n" + minimal + `    rules: [{action: bypass_waiting_room, match: {cidr_file: /lists/office, path: /x}}]
`

func TestNetworksComeFromFiles(t *testing.T) {
	c := setup{file: networksInFiles, files: map[string]string{
		"/etc/gate/proxies": "# ours\n10.0.0.0/8\r\n\n  2001:db8::/32  # the new ones\n192.0.2.1",
		"/lists/office":     "198.51.100.0/24\n",
	}}.mustLoad(t)
	assert.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("192.0.2.1/32")}, c.TrustedProxies)
	assert.Equal(t, "/etc/gate/proxies", c.TrustedProxiesFile)
	assert.Equal(t, config.Match{Conditions: config.Conditions{Path: "/x", CIDR: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}}, c.Rooms[0].Rules[0].Match)
}

func TestFaultsInFilesOfNetworksHaveTheirLines(t *testing.T) {
	_, _, faults := setup{file: networksInFiles, files: map[string]string{
		"/etc/gate/proxies": "10.0.0.0/8\nlan # the office\n10.1.2.3/8\n",
		"/lists/office":     "# nobody yet\n",
	}}.load(t)
	assert.Equal(t, []string{
		`gate.yaml:7:62: rooms[0].rules[0].match.cidr_file: /lists/office holds no network such as 10.0.0.0/8: expects one on each line`,
		`/etc/gate/proxies:2:1: trusted_proxies_file: "lan # the office" is not a network such as 10.0.0.0/8 or 2001:db8::/32`,
		`/etc/gate/proxies:3:1: trusted_proxies_file: "10.1.2.3/8" has bits set beyond its mask (did you mean "10.0.0.0/8"?)`,
	}, faults)
}

// A list that is cut off would let in, or believe, others than it says.
func TestAFileThatIsTooLargeIsNotCutOff(t *testing.T) {
	_, _, faults := setup{file: "trusted_proxies_file: proxies\n" + minimal, files: map[string]string{
		"/etc/gate/proxies": strings.Repeat("10.0.0.0/8\n", 100_000),
	}}.load(t)
	assert.Equal(t, []string{"gate.yaml:1:23: trusted_proxies_file: /etc/gate/proxies is larger than 1 MiB"}, faults)
}

func TestAFlagGoesBeforeAFileOfNetworks(t *testing.T) {
	c := setup{file: "trusted_proxies_file: proxies\n" + minimal, args: []string{"--trusted-proxies=192.0.2.1"}}.mustLoad(t)
	assert.Equal(t, []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, c.TrustedProxies)
}

func TestAFileOfNetworksMayHoldEverybody(t *testing.T) {
	_, warnings, faults := setup{file: "trusted_proxies_file: proxies\n" + minimal, files: map[string]string{"/etc/gate/proxies": "0.0.0.0/0"}}.load(t)
	assert.Empty(t, faults)
	assert.Equal(t, []string{"gate.yaml:1:23: trusted_proxies_file: every visitor is believed, whatever address they claim to have"}, warnings)
}

func TestPresetsAndVerifiedCrawlersReachTheGate(t *testing.T) {
	c := setup{file: minimal + "    presets: [health, robots]\n    rules: [{action: bypass_waiting_room, match: {verified_bot: true}}]\n"}.mustLoad(t)
	assert.Equal(t, []route.Preset{"health", "robots"}, c.Rooms[0].Presets)
	assert.Equal(t, route.Conditions{VerifiedBot: true}, c.Rooms[0].Rules[0].ForGate().Match)
	c = setup{file: "signature_agents: [Bot.example]\n" + minimal}.mustLoad(t)
	assert.Equal(t, []string{"Bot.example"}, c.SignatureAgents)
	c = setup{file: minimal, args: []string{"--presets=well_known,health"}}.mustLoad(t)
	assert.Equal(t, []route.Preset{"well_known", "health"}, c.Rooms[0].Presets)
}

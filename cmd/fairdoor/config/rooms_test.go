package config_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

const limits = ", total_active_users: 2, new_users_per_minute: 1}\n"

func TestRoomsMayNotClash(t *testing.T) {
	tests := map[string]struct {
		rooms string
		want  []string
	}{
		"different rooms": {"- {name: a, host: a.test" + limits + "- {name: b, host: b.test" + limits, nil},
		"a host inside another's path": {
			"- {name: a, host: a.test" + limits + "- {name: b, host: a.test, path: /b" + limits, nil},
		"one name twice": {"- {name: a" + limits + "- {name: a, path: /b" + limits,
			[]string{`4:10: rooms[1].name: "a" is the name of another room already, on line 3`}},
		"one host in two spellings": {"- {name: a, host: Shop.Test.:80" + limits + "- {name: b, host: shop.test" + limits,
			[]string{`4:19: rooms[1].host: "shop.test/" is guarded already, on line 3`}},
		"one path in two spellings": {"- {name: a, path: /Buy" + limits + "- {name: b, path: /buy/" + limits,
			[]string{`4:19: rooms[1].path: the path "/buy" of every host is guarded already, on line 3`}},
		"an additional route of another room": {
			"- {name: a, host: a.test, path: /x" + limits + "- {name: b, host: b.test, additional_routes: [{host: a.test, path: /x}]" + limits,
			[]string{`4:47: rooms[1].additional_routes[0]: "a.test/x" is guarded already, on line 3`}},
		"one suffix twice": {"- {name: a, cookie_suffix: z" + limits + "- {name: b, path: /b, cookie_suffix: z" + limits,
			[]string{`4:38: rooms[1].cookie_suffix: the cookie fairdoor_z belongs to room "a" already, on line 3`}},
		"a suffix that is a name": {"- {name: a" + limits + "- {name: b, path: /b, cookie_suffix: a" + limits,
			[]string{`4:38: rooms[1].cookie_suffix: the cookie fairdoor_a belongs to room "a" already, on line 3`}},
		"a name that is for the tokens of another room": {"- {name: admission_a" + limits + "- {name: a, path: /b" + limits,
			[]string{`3:10: rooms[0].name: the cookie fairdoor_admission_a is that of the admission tokens of room "a"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, faults := setup{file: "origin: http://127.0.0.1:3000\nrooms:\n" + tt.rooms}.load(t)
			var want []string
			for _, line := range tt.want {
				want = append(want, "gate.yaml:"+line)
			}
			assert.Equal(t, want, faults)
		})
	}
}

func TestWarnings(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []string
	}{
		"more new users than active ones": {"    cookie_suffix: a\n  - {name: b, path: /b, total_active_users: 1, new_users_per_minute: 2}", []string{
			"7:70: rooms[1].new_users_per_minute: 2 is more than total_active_users, which is 1: only short sessions make sense of it"}},
		"more new users than active ones, of short sessions": {"  - {name: b, path: /b, total_active_users: 1, new_users_per_minute: 2, session_duration: 1m}", nil},
		"more new users than active ones, in seats":          {"  - {name: b, path: /b, total_active_users: 1, new_users_per_minute: 2, occupancy: connection}", nil},
		"samesite none without https": {"    cookie_attributes: {samesite: none}", []string{
			"6:35: rooms[0].cookie_attributes.samesite: none needs https, and without tls or trusted_proxies the gate never sees any: the cookie will be lax"}},
		"samesite none behind a proxy": {"    cookie_attributes: {samesite: none}\ntrusted_proxies: [10.0.0.1]", nil},
		"a proxy that is everybody": {"trusted_proxies: ['::/0']", []string{
			"6:18: trusted_proxies: every visitor is believed, whatever address they claim to have"}},
		"queue_all of a suspended room": {"    suspended: true\n    queue_all: true", []string{
			"7:16: rooms[0].queue_all: has no effect while the room is suspended"}},
		"a rule for everything": {"    rules: [{action: bypass_waiting_room, match: {path_prefix: /}}]", []string{
			"6:64: rooms[0].rules[0].match.path_prefix: every path begins with /: the rule is about everything in the room"}},
		"a rule with braces": {"    path: /room/{id}\n    rules: [{action: bypass_waiting_room, match: {path_prefix: '/room/{id}/static'}}]", []string{
			"7:64: rooms[0].rules[0].match.path_prefix: braces are no pattern in a rule: it matches paths that have them"}},
		"an empty template": {"    template: blank", []string{
			"6:15: rooms[0].template: /etc/gate/blank is empty: who waits sees a blank page"}},
		"a short token": {"admin_token: abc", []string{
			"6:14: admin_token: the token is short: with fewer than 16 characters it can be guessed"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, warnings, faults := setup{file: minimal + tt.lines + "\n", files: map[string]string{"/etc/gate/blank": " \n"}}.load(t)
			assert.Empty(t, faults)
			var want []string
			for _, line := range tt.want {
				want = append(want, "gate.yaml:"+line)
			}
			assert.Equal(t, want, warnings)
		})
	}
}

func TestAMistypedVariableIsWarnedOf(t *testing.T) {
	_, warnings, _ := setup{file: minimal, tweak: func(o *config.Options) {
		o.EnvNames = []string{"PATH", "FAIRDOOR_ORIGN", "FAIRDOOR_ORIGIN", "FAIRDOOR_SERVICE_HOST", "FAIRDOOR_PORT_80_TCP"}
	}}.load(t)
	assert.Equal(t, []string{"FAIRDOOR_ORIGN: no setting has this name (did you mean FAIRDOOR_ORIGIN?)"}, warnings)
}

func TestRulesAreRead(t *testing.T) {
	c := setup{file: minimal + `    rules:
      - action: bypass_waiting_room
        match: {path_prefix: /a, cidr: 192.0.2.1, header: "X-Probe: yes", cookie: staff=1}
      - {action: bypass_waiting_room, description: feeds, match: {path: /feed, method: GET, cidr: [10.0.0.0/8, "2001:db8::/32"]}}
`}.mustLoad(t)
	assert.Equal(t, []config.Rule{
		{Action: "bypass_waiting_room", Match: config.Match{Conditions: config.Conditions{
			PathPrefix: "/a", CIDR: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, Header: "X-Probe: yes", Cookie: "staff=1"}}},
		{Action: "bypass_waiting_room", Description: "feeds", Match: config.Match{Conditions: config.Conditions{
			Path: "/feed", Method: "GET", CIDR: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}}}},
	}, c.Rooms[0].Rules)
}

func TestConditionsAreNested(t *testing.T) {
	c := setup{file: minimal + `    rules:
      - action: endless_line
        match:
          cidr_file: bots
          not: {cookie: staff}
          any:
            - {query: a=1, not: [{path: /x}, {path: /y}]}
            - all: [{header: X-A}, {header: X-B, cidr_file: bots}]
`, files: map[string]string{"/etc/gate/bots": "192.0.2.0/24\n"}}.mustLoad(t)
	bots := []string{"192.0.2.0/24"}
	assert.Equal(t, route.Rule{Action: route.EndlessLine, Match: route.Conditions{
		CIDR: bots, Not: []route.Conditions{{Cookie: "staff"}}, Any: []route.Conditions{
			{Query: "a=1", Not: []route.Conditions{{Path: "/x"}, {Path: "/y"}}},
			{All: []route.Conditions{{Header: "X-A"}, {Header: "X-B", CIDR: bots}}},
		},
	}}, c.Rooms[0].Rules[0].ForGate())
}

func TestFaultsInNestedConditionsHaveTheirPlace(t *testing.T) {
	_, _, faults := setup{file: minimal + `    rules:
      - action: bypass_waiting_room
        match:
          any:
            - {path: x}
            - {}
            - {header: User-Agent}
            - {all: [{query: "a b"}], nat: {}}
          not: {method: get, cidr: [10.0.0.0/33]}
`}.load(t)
	assert.Equal(t, []string{
		`gate.yaml:10:22: rooms[0].rules[0].match.any[0].path: "x" does not begin with a slash (did you mean "/x"?)`,
		`gate.yaml:11:15: rooms[0].rules[0].match.any[1]: has no condition: without one it would be about everything`,
		`gate.yaml:12:24: rooms[0].rules[0].match.any[2].header: anyone can send any User-Agent; match cidr besides`,
		`gate.yaml:13:30: rooms[0].rules[0].match.any[3].all[0].query: "a b" is not "name=value", or "name" for any value, of letters, digits and - . _ ~: servers read other characters in different ways`,
		`gate.yaml:13:39: rooms[0].rules[0].match.any[3].nat: unknown key (did you mean "not"?)`,
		`gate.yaml:14:25: rooms[0].rules[0].match.not[0].method: "get" is not in capitals (did you mean "GET"?)`,
		`gate.yaml:14:37: rooms[0].rules[0].match.not[0].cidr[0]: "10.0.0.0/33" is not a network such as 10.0.0.0/8 or 2001:db8::/32`,
	}, faults)
}

func TestAnchorsAndMergesAreFollowed(t *testing.T) {
	c := setup{file: `origin: &o http://127.0.0.1:3000
rooms:
  - &shop {name: shop, origin: *o, total_active_users: 20, new_users_per_minute: 10, session_duration: 2m}
  - <<: *shop
    name: tickets
    path: /tickets
`}.mustLoad(t)
	assert.Equal(t, "tickets", c.Rooms[1].Name)
	assert.Equal(t, c.Rooms[0].SessionDuration, c.Rooms[1].SessionDuration)
	assert.Equal(t, 20, c.Rooms[1].TotalActiveUsers)
}

func TestFaultsOfChallenges(t *testing.T) {
	for name, tt := range map[string]struct {
		challenge string
		want      []string
	}{
		"none":     {"{provider: off}", nil},
		"complete": {"{provider: turnstile, site_key: k, secret: s}", nil},
		"in a file, and of another provider": {
			"{provider: other, site_key: k, secret_file: s, verify_url: http://127.0.0.1:1/v, script_url: https://a.test/api.js, widget_class: w, sources: [https://*.a.test]}", nil},
		"without keys": {"{provider: hcaptcha}", []string{
			"gate.yaml:6:27: rooms[0].challenge.secret: is required: the provider's secret for the site, or secret_file",
			"gate.yaml:6:27: rooms[0].challenge.site_key: is required: the key by which the provider knows the site, for its widget",
		}},
		"two secrets": {"{provider: hcaptcha, site_key: k, secret: s, secret_file: s}", []string{
			"gate.yaml:6:74: rooms[0].challenge.secret_file: there is challenge.secret as well: give one of them",
		}},
		"of another provider": {"{provider: other, site_key: k, secret: s}", []string{
			"gate.yaml:6:27: rooms[0].challenge.script_url: is required: the script of the widget",
			"gate.yaml:6:27: rooms[0].challenge.verify_url: is required: where answers are verified",
			"gate.yaml:6:27: rooms[0].challenge.widget_class: is required: the class of the widget's element",
		}},
		"addresses that are not safe": {"{provider: turnstile, site_key: k, secret: s, verify_url: http://a.test/v, sources: [https://a.test/x]}", []string{
			`gate.yaml:6:74: rooms[0].challenge.verify_url: "http://a.test/v" is not safe on its way: it begins with https://`,
			`gate.yaml:6:101: rooms[0].challenge.sources[0]: "https://a.test/x" has a path: only scheme, host and port count`,
		}},
		"no provider": {"{provider: turnstyle}", []string{
			`gate.yaml:6:27: rooms[0].challenge.provider: "turnstyle" is not one of off, turnstile, hcaptcha, recaptcha, other (did you mean "turnstile"?)`,
		}},
	} {
		_, _, faults := setup{file: minimal + "    challenge: " + tt.challenge + "\n", files: map[string]string{"/etc/gate/s": "secret\n"}}.load(t)
		assert.ElementsMatch(t, tt.want, faults, name)
	}
}

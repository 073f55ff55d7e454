package config_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anteroom-gate/anteroom/cmd/anteroom/config"
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
			[]string{`4:38: rooms[1].cookie_suffix: the cookie anteroom_z belongs to room "a" already, on line 3`}},
		"a suffix that is a name": {"- {name: a" + limits + "- {name: b, path: /b, cookie_suffix: a" + limits,
			[]string{`4:38: rooms[1].cookie_suffix: the cookie anteroom_a belongs to room "a" already, on line 3`}},
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
			"6:64: rooms[0].rules[0].match.path_prefix: every path begins with /: the rule exempts everything from the room"}},
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
		o.EnvNames = []string{"PATH", "ANTEROOM_ORIGN", "ANTEROOM_ORIGIN", "ANTEROOM_SERVICE_HOST", "ANTEROOM_PORT_80_TCP"}
	}}.load(t)
	assert.Equal(t, []string{"ANTEROOM_ORIGN: no setting has this name (did you mean ANTEROOM_ORIGIN?)"}, warnings)
}

func TestRulesAreRead(t *testing.T) {
	c := setup{file: minimal + `    rules:
      - action: bypass_waiting_room
        match: {path_prefix: /a, cidr: 192.0.2.1, header: "X-Probe: yes", cookie: staff=1}
      - {action: bypass_waiting_room, description: feeds, match: {path: /feed, method: GET, cidr: [10.0.0.0/8, "2001:db8::/32"]}}
`}.mustLoad(t)
	assert.Equal(t, []config.Rule{
		{Action: "bypass_waiting_room", Match: config.Match{
			PathPrefix: "/a", CIDR: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, Header: "X-Probe: yes", Cookie: "staff=1"}},
		{Action: "bypass_waiting_room", Description: "feeds", Match: config.Match{
			Path: "/feed", Method: "GET", CIDR: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}}},
	}, c.Rooms[0].Rules)
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

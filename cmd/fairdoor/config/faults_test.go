package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// TestFaultyLines adds lines to the minimal file, at its top (which follows the rooms, on line 6)
// or in its room (indented, on line 6), and wants exactly these faults.
func TestFaultyLines(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []string
	}{
		"an unknown key near a known one is suggested": {"lisen: ':80'", []string{
			`6:1: lisen: unknown key (did you mean "listen"?)`}},
		"a key in another spelling is suggested": {"originTimeout: 5s", []string{
			`6:1: originTimeout: unknown key (did you mean "origin_timeout"?)`}},
		"an unknown key near none lists the keys": {"log: {xyzzy: 1}", []string{
			`6:7: log.xyzzy: unknown key; the keys here are level, format`}},
		"a key of a room at the top is sent to the room": {"queue_all: true", []string{
			`6:1: queue_all: unknown key here: it belongs to a room, below rooms`}},
		"a key of the top in a room is sent to the top": {"    listen: ':80'", []string{
			`6:5: rooms[0].listen: unknown key here: it belongs at the top of the file`}},
		"a key that is no name is shown quoted": {`"a b": 1`, []string{
			`6:1: "a b": unknown key; the keys here are listen, admin, admin_token, admin_token_file, operators, operators_file, store, state_dir, database, origin, ` +
				`trusted_proxies, trusted_proxies_file, cookie, tls, log, access_log, admissions_log, origin_timeout, progress_timeout, drain_delay, shutdown_grace, rooms, waitlists, webhook_hosts, webhooks, signature_agents, public_health, load_token, sign_requests, origins, h2c, host_header, transport, proxy_protocol, push_hosts`}},
		"a key that is a list is refused":       {"? [a]\n: 1", []string{`6:3: a key has to be a plain name, this one is a list`}},
		"a key twice points at the first":       {"store: memory\nstore: memory", []string{`7:1: store: the key is given twice: first on line 6`}},
		"a key twice in a room":                 {"    name: b", []string{`6:5: rooms[0].name: the key is given twice: first on line 3`}},
		"a key twice in a mapping":              {"log: {level: info, level: warn}", []string{`6:20: log.level: the key is given twice: first on line 6`}},
		"a key without a value":                 {"listen:", []string{`6:8: listen: has no value: expects an address such as ":8080" (or take the line out)`}},
		"a list without a value":                {"trusted_proxies:", []string{`6:17: trusted_proxies: expects a list of networks such as [10.0.0.0/8], got nothing`}},
		"a mapping where a string is wanted":    {"listen: {port: 80}", []string{`6:9: listen: expects an address such as ":8080", got a mapping`}},
		"a string where a mapping is wanted":    {"cookie: abc", []string{`6:9: cookie: expects a mapping of keys, keys_file, got a string`}},
		"a string where a list is wanted":       {"trusted_proxies: 10.0.0.0/8", []string{`6:18: trusted_proxies: expects a list of networks such as [10.0.0.0/8], got a string`}},
		"a number where a string is wanted":     {"listen: 8080", []string{`6:9: listen: expects an address such as ":8080", got a number: a string needs quotes here`}},
		"an octal number where a name is meant": {"    cookie_suffix: 012", []string{`6:20: rooms[0].cookie_suffix: expects a name, got a number: a string needs quotes here`}},
		"a tag of one's own":                    {"listen: !port ':80'", []string{`6:9: listen: expects an address such as ":8080", got a value with a tag of its own`}},

		"a boolean of YAML 1.1":          {"    queue_all: yes", []string{`6:16: rooms[0].queue_all: "yes" is not true or false (did you mean true?)`}},
		"a quoted boolean":               {"    queue_all: 'false'", []string{`6:16: rooms[0].queue_all: "false" is not true or false (did you mean false?)`}},
		"a number as a boolean":          {"    suspended: 2", []string{`6:16: rooms[0].suspended: 2 is not true or false`}},
		"a number in octal":              {"    queueing_status_code: 0200", []string{`6:27: rooms[0].queueing_status_code: 0200 is not a whole number in plain digits (did you mean 200?)`}},
		"a number with underscores":      {"    queueing_status_code: 2_00", []string{`6:27: rooms[0].queueing_status_code: 2_00 is not a whole number in plain digits (did you mean 200?)`}},
		"a fraction as a whole number":   {"    queueing_status_code: 200.5", []string{`6:27: rooms[0].queueing_status_code: 200.5 is not a whole number`}},
		"a quoted number":                {"    queueing_status_code: '200'", []string{`6:27: rooms[0].queueing_status_code: "200" is a string: without the quotes it is a whole number`}},
		"a status that is not offered":   {"    queueing_status_code: 404", []string{`6:27: rooms[0].queueing_status_code: 404 is not one of 200, 202, 429, 503`}},
		"a duration without a unit":      {"    session_duration: 300", []string{`6:23: rooms[0].session_duration: 300 has no unit: expects a duration such as 5m or 90s (did you mean 300s?)`}},
		"a duration that is none":        {"    session_duration: 5 minutes", []string{`6:23: rooms[0].session_duration: "5 minutes" is not a duration such as 5m or 90s`}},
		"a session below a second":       {"    session_duration: 900ms", []string{`6:23: rooms[0].session_duration: "900ms" is too short: at least 1s`}},
		"a session beyond its cookie":    {"    session_duration: 25h", []string{`6:23: rooms[0].session_duration: "25h" is too long: at most 24h`}},
		"an interval below a second":     {"    refresh_interval: 0s", []string{`6:23: rooms[0].refresh_interval: "0s" is too short: at least 1s`}},
		"a bucket below a second":        {"    bucket: 1ms", []string{`6:13: rooms[0].bucket: 1ms is too short: at least 1s`}},
		"a negative delay":               {"drain_delay: -1s", []string{`6:14: drain_delay: "-1s" is too short: at least 0s`}},
		"a negative timeout":             {"shutdown_grace: -1s", []string{`6:17: shutdown_grace: "-1s" is too short: at least 0s`}},
		"a jitter above a half":          {"    refresh_jitter: 0.6", []string{`6:21: rooms[0].refresh_jitter: 0.6 is out of bounds: from 0 to 0.5`}},
		"a jitter that is not a number":  {"    refresh_jitter: .nan", []string{`6:21: rooms[0].refresh_jitter: .nan is not a number such as 0.15`}},
		"a ticket shorter than two":      {"    queue_ticket_ttl: 39s", []string{`6:23: rooms[0].queue_ticket_ttl: 39s is too short: at least two refresh intervals, 40s`}},
		"an interval that is too long":   {"    refresh_interval: 16m", []string{`6:23: rooms[0].queue_ticket_ttl: 30m is too short: at least two refresh intervals, 32m`}},
		"a method that is none":          {"    queueing_method: lane", []string{`6:22: rooms[0].queueing_method: "lane" is not one of fifo, random, line, passthrough, reject (did you mean "line"?)`}},
		"a method nearly right":          {"    queueing_method: FIFO", []string{`6:22: rooms[0].queueing_method: "FIFO" is not one of fifo, random, line, passthrough, reject (did you mean "fifo"?)`}},
		"a pacing nearly right":          {"    pacing: minutes", []string{`6:13: rooms[0].pacing: "minutes" is not one of auto, minute, even, random, early (did you mean "minute"?)`}},
		"a word for the store's failure": {"    on_store_error: close", []string{`6:21: rooms[0].on_store_error: "close" is not one of hold, share, open`}},
		"a command that is not known":    {"    enabled_origin_commands: [revoke, ban]", []string{`6:39: rooms[0].enabled_origin_commands[1]: "ban" is not one of revoke, left`}},
		"a command twice":                {"    enabled_origin_commands: [revoke, revoke]", []string{`6:39: rooms[0].enabled_origin_commands[1]: "revoke" is there already`}},
		"a log level nearly right":       {"log: {level: warning}", []string{`6:14: log.level: "warning" is not one of debug, info, warn, error (did you mean "warn"?)`}},

		"a dropout within an interval":         {"    line_dropout: 22s", []string{`6:19: rooms[0].line_dropout: 22s is too short: longer than a refresh interval, which is 20s, with some to spare for the way`}},
		"an edge with bound tickets":           {"    bind_ticket: network\n    edge_admission: 30s", []string{`7:21: rooms[0].edge_admission: 30s does not go with bind_ticket network: an edge lets in whoever brings the admission token`}},
		"a path with a backslash":              {`    path: /a\b`, []string{`6:11: rooms[0].path: "/a\\b" holds a backslash: paths have slashes`}},
		"a path with a space":                  {"    path: /a b", []string{`6:11: rooms[0].path: "/a b" holds white space or control characters`}},
		"a path that is too long":              {"    path: /" + strings.Repeat("a", 4096), []string{`6:11: rooms[0].path: "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" is too long: at most 4096 bytes`}},
		"a suffix that is too long":            {"    cookie_suffix: " + strings.Repeat("a", 65), []string{`6:20: rooms[0].cookie_suffix: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" is too long: at most 64 characters`}},
		"an origin whose host is none":         {"    origin: http://a..b", []string{`6:13: rooms[0].origin: "http://a..b" has a host that is neither an IP address nor a name`}},
		"a cookie's domain that is none":       {"    cookie_attributes: {domain: a..b}", []string{`6:33: rooms[0].cookie_attributes.domain: "a..b" is not a domain such as example.com`}},
		"a rule with a path without its slash": {"    rules: [{action: bypass_waiting_room, match: {path: a}}]", []string{`6:57: rooms[0].rules[0].match.path: "a" does not begin with a slash (did you mean "/a"?)`}},
		"a rule with a path that is a pattern": {"    rules: [{action: bypass_waiting_room, match: {path_prefix: /a/*}}]", []string{`6:64: rooms[0].rules[0].match.path_prefix: "/a/*" cannot be a pattern: there are path, path_prefix and path_suffix`}},
		"a rule with a query":                  {"    rules: [{action: bypass_waiting_room, match: {path: /a?b}}]", []string{`6:57: rooms[0].rules[0].match.path: "/a?b" holds a query or a fragment: only the path counts`}},

		"an address without a port":            {"listen: localhost", []string{`6:9: listen: "localhost" is not host:port, such as ":8080", "127.0.0.1:8080" or "[::1]:8080"`}},
		"an address that is only a port":       {"listen: '80'", []string{`6:9: listen: "80" is not host:port (did you mean ":80"?)`}},
		"a port too large":                     {"listen: ':65536'", []string{`6:9: listen: ":65536" has no port between 0 and 65535`}},
		"a host that is none":                  {"listen: 'a b:80'", []string{`6:9: listen: "a b:80" has a host that is neither an IP address nor a name`}},
		"listen and admin on one port":         {"admin: '127.0.0.1:8080'", []string{`6:8: admin: listen and admin cannot share the address: ":8080" and "127.0.0.1:8080"`}},
		"listen on the admin API's port":       {"listen: '127.0.0.1:9090'", []string{`6:9: listen: listen and admin cannot share the address: "127.0.0.1:9090" and "127.0.0.1:9090"`}},
		"an operator twice":                    {"operators: [ada operator 0123456789abcdef, ada viewer 0123456789abcdeg]", []string{`6:12: operators: "ada" is listed twice`}},
		"operators with one token":             {"operators: [ada operator 0123456789abcdef, ben viewer 0123456789abcdef]", []string{`6:12: operators: "ben" has the token of somebody else`}},
		"an operator without a role":           {"operators: [ada 0123456789abcdef]", []string{`6:13: operators[0]: an operator is a name, operator or viewer, and a token of 16 characters or more, with spaces between them`}},
		"an open admin API without a token":    {"admin: ':9090'", []string{`6:8: admin: ":9090" can be reached from other machines: that needs admin_token, admin_token_file or operators_file`}},
		"a store that is not supported":        {"store: redis://:pass@host", []string{`6:8: store: the supported store is memory, which keeps the queue in this process and its journal in state_dir`}},
		"a network that is none":               {"trusted_proxies: [10.0.0.0/8, lan]", []string{`6:31: trusted_proxies[1]: "lan" is not a network such as 10.0.0.0/8 or 2001:db8::/32`}},
		"a network with bits beyond its mask":  {"trusted_proxies: [10.1.2.3/8]", []string{`6:19: trusted_proxies[0]: "10.1.2.3/8" has bits set beyond its mask (did you mean "10.0.0.0/8"?)`}},
		"a site with a path":                   {"    cors_origins: [https://app.example/x]", []string{`6:20: rooms[0].cors_origins[0]: "https://app.example/x" has a path, a query or a fragment, which an origin has not (did you mean "https://app.example"?)`}},
		"a site without a scheme":              {"    cors_origins: ['*', app.example]", []string{`6:25: rooms[0].cors_origins[1]: "app.example" has no scheme (did you mean "https://app.example"?)`}},
		"a mapped network":                     {"trusted_proxies: ['::ffff:10.0.0.0/104']", []string{`6:19: trusted_proxies[0]: "::ffff:10.0.0.0/104" is an IPv4 network in IPv6 clothes: write it as IPv4`}},
		"an origin without a scheme":           {"    origin: localhost:3000", []string{`6:13: rooms[0].origin: "localhost:3000" has no scheme (did you mean "http://localhost:3000"?)`}},
		"an origin of another scheme":          {"    origin: ftp://a", []string{`6:13: rooms[0].origin: "ftp://a" has a scheme that is none of http, https, h2 and h2c`}},
		"an origin with a path":                {"    origin: http://a/b", []string{`6:13: rooms[0].origin: "http://a/b" has a path, a query or a fragment: requests go to the origin under the path they came for`}},
		"an origin with a query":               {"    origin: http://a?", []string{`6:13: rooms[0].origin: "http://a?" has a path, a query or a fragment: requests go to the origin under the path they came for`}},
		"an origin without a host":             {"    origin: http://:80", []string{`6:13: rooms[0].origin: "http://:80" has no host`}},
		"an origin with a port that is none":   {"    origin: http://a:0", []string{`6:13: rooms[0].origin: "http://a:0" has no port between 1 and 65535`}},
		"an origin with a password":            {"    origin: http://u:pass@a", []string{`6:13: rooms[0].origin: the value holds a user or a password: visitors bring their own`}},
		"an origin that is the gate":           {"    origin: http://localhost:8080", []string{`6:13: rooms[0].origin: is the address that this gate listens on: requests would go round in circles`}},
		"an empty origin":                      {"    origin: ''", []string{`6:13: rooms[0].origin: "" is empty: expects an URL such as http://127.0.0.1:3000`}},
		"a host that is an URL":                {"    host: https://shop.test/", []string{`6:11: rooms[0].host: "https://shop.test/" is an URL: only the host is wanted (did you mean "shop.test"?)`}},
		"a host with a path":                   {"    host: shop.test/a", []string{`6:11: rooms[0].host: "shop.test/a" holds a slash: the path has a key of its own (did you mean "shop.test"?)`}},
		"a host that is a pattern":             {"    host: '*.shop.test'", []string{`6:11: rooms[0].host: "*.shop.test" cannot be a pattern: name each host in additional_routes, or leave it "" for every host`}},
		"a host that is not ASCII":             {"    host: bücher.test", []string{`6:11: rooms[0].host: "bücher.test" is not a host; names that are not ASCII are written in their xn-- form`}},
		"a path without its slash":             {"    path: shop", []string{`6:11: rooms[0].path: "shop" does not begin with a slash (did you mean "/shop"?)`}},
		"a path with a query":                  {"    path: /a?b", []string{`6:11: rooms[0].path: "/a?b" holds a query or a fragment: only the path counts`}},
		"a path that is a pattern":             {"    path: /a/*", []string{`6:11: rooms[0].path: "/a/*" cannot be a pattern: a path covers everything below it as it is`}},
		"a path that is not clean":             {"    path: /a/../b", []string{`6:11: rooms[0].path: "/a/../b" has an empty, . or .. segment`}},
		"a path of two slashes":                {"    path: //", []string{`6:11: rooms[0].path: "//" has an empty, . or .. segment`}},
		"a path with parameters":               {"    path: /a;b", []string{`6:11: rooms[0].path: "/a;b" has ; \ # or ?, which different servers read differently: it cannot be guarded`}},
		"a path with an encoded slash":         {"    path: /a%2fb", []string{`6:11: rooms[0].path: "/a%2fb" has an encoded slash: to some servers it is a slash, to others it is not`}},
		"a path with an encoded dot segment":   {"    path: /%2e%2e/a", []string{`6:11: rooms[0].path: "/%2e%2e/a" has an empty, . or .. segment once it is decoded`}},
		"an empty path":                        {"    path: ''", []string{`6:11: rooms[0].path: "" does not begin with a slash`}},
		"a suffix with a space":                {"    cookie_suffix: a b", []string{`6:20: rooms[0].cookie_suffix: "a b" may hold letters, digits, - and _ only`}},
		"a language without its country":       {"    default_template_language: de", []string{`6:32: rooms[0].default_template_language: "de" is not one of ` + languages + ` (did you mean "de-DE"?)`}},
		"a template that is not there":         {"    template: page.html", []string{`6:15: rooms[0].template: cannot read /etc/gate/page.html: file does not exist`}},
		"a template with a line break":         {`    template: "a\nb"`, []string{`6:15: rooms[0].template: "a\nb" is no path`}},
		"samesite none without secure":         {"    cookie_attributes: {samesite: none, secure: never}", []string{`6:49: rooms[0].cookie_attributes.secure: never does not go with samesite none: browsers refuse such a cookie`}},
		"a cookie's domain with a dot":         {"    cookie_attributes: {domain: .shop.test}", []string{`6:33: rooms[0].cookie_attributes.domain: ".shop.test" begins with a dot (did you mean "shop.test"?)`}},
		"a cookie's domain that is an address": {"    cookie_attributes: {domain: 192.0.2.1}", []string{`6:33: rooms[0].cookie_attributes.domain: "192.0.2.1" is an address: browsers take only names as the domain of a cookie`}},
		"a cookie's domain of another site": {"    host: www.shop.test\n    cookie_attributes: {domain: op.test}", []string{
			`7:33: rooms[0].cookie_attributes.domain: "op.test" is not part of "www.shop.test": browsers refuse the cookie on the host "www.shop.test"`}},
		"an additional route that the room has": {"    additional_routes: [{path: /}]", []string{
			`6:25: rooms[0].additional_routes[0]: the path "/" of every host is guarded already, on line 3`}},
		"an additional route in another encoding": {"    additional_routes: [{path: /é}, {path: /%C3%A9}]", []string{
			`6:37: rooms[0].additional_routes[1]: the path "/é" of every host is guarded already, on line 6`}},
		"an additional route at another spelling of an address": {"    additional_routes: [{host: '::1'}, {host: '[0:0::1]:80'}]", []string{
			`6:40: rooms[0].additional_routes[1]: "::1/" is guarded already, on line 6`}},
		"an additional route of nothing":    {"    additional_routes: [{}]", []string{`6:25: rooms[0].additional_routes[0]: has neither host nor path`}},
		"an additional route that is text":  {"    additional_routes: [/a]", []string{`6:25: rooms[0].additional_routes[0]: expects a mapping with host and path, got a string`}},
		"a certificate without its key":     {"tls: {certificates: [{cert: a.pem}]}", []string{`6:22: tls.certificates[0].key: is required: a certificate and its key go together`}},
		"a certificate that is not there":   {"tls: {certificates: [{cert: a.pem, key: /k}]}", []string{`6:22: tls.certificates[0]: cannot read /etc/gate/a.pem: file does not exist`, `6:22: tls.certificates[0]: cannot read /k: file does not exist`}},
		"a keys file that is not there":     {"cookie: {keys_file: keys}", []string{`6:21: cookie.keys_file: cannot read /etc/gate/keys: file does not exist`}},
		"a token file that is not there":    {"admin_token_file: t", []string{`6:19: admin_token_file: cannot read /etc/gate/t: file does not exist`}},
		"a variable that is not set":        {"state_dir: /var/${NOWHERE}", []string{`6:12: state_dir: "/var/${NOWHERE}" names the environment variable NOWHERE, which is not set`}},
		"a variable of a shell's own ways":  {"state_dir: '${A:-b}'", []string{`6:12: state_dir: "${A:-b}" has a ${ that names no variable: only ${NAME} is understood, and $$ for a dollar sign`}},
		"a rule without anything":           {"    rules: [{}]", []string{`6:13: rooms[0].rules[0].action: is required: bypass_waiting_room or endless_line`, `6:13: rooms[0].rules[0].match: has no condition: without one it would be about everything`}},
		"a rule of another action":          {"    rules: [{action: bypass, match: {path: /a}}]", []string{`6:22: rooms[0].rules[0].action: "bypass" is not one of bypass_waiting_room, endless_line (did you mean "bypass_waiting_room"?)`}},
		"a rule with an empty condition":    {"    rules: [{action: bypass_waiting_room, match: {path: ''}}]", []string{`6:57: rooms[0].rules[0].match.path: "" is empty: take the line out, or say what to match`}},
		"a rule with no network":            {"    rules: [{action: bypass_waiting_room, match: {cidr: []}}]", []string{`6:57: rooms[0].rules[0].match.cidr: the list is empty: take the line out, or name a network`}},
		"a rule with a network that is bad": {"    rules: [{action: bypass_waiting_room, match: {cidr: 10.0.0.0/33}}]", []string{`6:57: rooms[0].rules[0].match.cidr: "10.0.0.0/33" is not a network such as 10.0.0.0/8 or 2001:db8::/32`}},
		"a rule that asks for nothing":      {"    rules: [{action: bypass_waiting_room, match: {verified_bot: false}}]", []string{`6:50: rooms[0].rules[0].match: has no condition: without one it would be about everything`}},
		"a rule with a file that is not":    {"    rules: [{action: bypass_waiting_room, match: {cidr_file: office}}]", []string{`6:62: rooms[0].rules[0].match.cidr_file: cannot read /etc/gate/office: file does not exist`}},
		"a rule with networks twice":        {"    rules: [{action: bypass_waiting_room, match: {cidr: 10.0.0.0/8, cidr_file: office}}]", []string{`6:80: rooms[0].rules[0].match.cidr_file: there is match.cidr as well: give one of them`}},
		"a preset that is none":             {"    presets: [wellknown, health, health]", []string{`6:15: rooms[0].presets[0]: "wellknown" is not one of well_known, robots, health (did you mean "well_known"?)`, `6:34: rooms[0].presets[2]: "health" is there already`}},
		"a rule with a small method":        {"    rules: [{action: bypass_waiting_room, match: {method: get}}]", []string{`6:59: rooms[0].rules[0].match.method: "get" is not in capitals (did you mean "GET"?)`}},
		"a rule with a pattern":             {"    rules: [{action: bypass_waiting_room, match: {path_suffix: '*.js'}}]", []string{`6:64: rooms[0].rules[0].match.path_suffix: "*.js" cannot be a pattern (did you mean ".js"?)`}},
		"a rule with a header that is none": {"    rules: [{action: bypass_waiting_room, match: {header: 'a b: c'}}]", []string{`6:59: rooms[0].rules[0].match.header: "a b" is not the name of a header: expects "Name: value", or "Name" for any value`}},
		"an accent that is a word":          {"    accent: red", []string{`6:13: rooms[0].accent: "red" is not a colour such as #0a7d55`}},
		"a background without text":         {`    background: "#808080"`, []string{`6:17: rooms[0].background: "#808080" is too near to the colours of the text to read it: their contrast is 1.6, and has to be 4.5; the nearest that has it is #3c3c3c; or say card, for another colour behind the text`}},
		"a card without text":               {"    background: \"#808080\"\n    card: \"#808080\"", []string{`7:11: rooms[0].card: "#808080" is too near to the colours of the text to read it: their contrast is 1.6, and has to be 4.5; the nearest that has it is #3c3c3c`}},
		"a card on nothing":                 {`    card: "#fff"`, []string{`6:11: rooms[0].card: is on a background: say background, too; or that alone`}},
		"a font with more than names":       {"    font: Georgia;color:red", []string{`6:11: rooms[0].font: "Georgia;color:red" is no list of fonts such as Georgia, Times New Roman, serif`}},
		"an accent that is a comment":       {"    accent: #0a7d55", []string{`6:12: rooms[0].accent: has no value: expects a colour such as #0a7d55 (or take the line out)`}},
		"help that is a script":             {"    help_url: 'javascript:alert(1)'", []string{`6:15: rooms[0].help_url: "javascript:alert(1)" is not a URL such as https://help.example.com/ or mailto:help@example.com`}},
		"a site name of two lines":          {`    site_name: "a\nb"`, []string{`6:16: rooms[0].site_name: "a\nb" holds a control character`}},
		"a message that is a book":          {"    message: " + strings.Repeat("é", 501), []string{`6:14: rooms[0].message: "` + strings.Repeat("é", 60) + `…" is too long: at most 500 characters`}},
		"a hero that is not there":          {"    hero: none.svg", []string{`6:11: rooms[0].hero: cannot read /etc/gate/none.svg: file does not exist`}},
		"a logo that is not there":          {"    logo: none.svg", []string{`6:11: rooms[0].logo: cannot read /etc/gate/none.svg: file does not exist`}},
		"a rule with a cookie that is none": {"    rules: [{action: bypass_waiting_room, match: {cookie: 'a; b'}}]", []string{`6:59: rooms[0].rules[0].match.cookie: "a; b" is not the name of a cookie: expects "name=value", or "name" for any value`}},
		"a rule with an encoded slash":      {"    rules: [{action: bypass_waiting_room, match: {path: /a%2fb}}]", []string{`6:57: rooms[0].rules[0].match.path: "/a%2fb" has an encoded slash: to some servers it is a slash, to others it is not`}},
		"a rule for a host":                 {"    rules: [{action: bypass_waiting_room, match: {header: 'Host: a'}}]", []string{`6:59: rooms[0].rules[0].match.header: rules do not match the host; a room's host does`}},
		"a rule for whoever says who it is": {"    rules: [{action: bypass_waiting_room, match: {header: User-Agent}}]", []string{`6:59: rooms[0].rules[0].match.header: anyone can send any User-Agent; match cidr besides`}},
		"a rule with an unknown condition":  {"    rules: [{action: bypass_waiting_room, match: {prefix: /a, path: /b}}]", []string{`6:51: rooms[0].rules[0].match.prefix: unknown key; the keys here are path, path_prefix, path_suffix, method, cidr, cidr_file, header, cookie, verified_bot, query, all, any, not`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, faults := setup{file: minimal + tt.lines + "\n"}.load(t)
			for i := range tt.want {
				tt.want[i] = "gate.yaml:" + tt.want[i]
			}
			assert.Equal(t, tt.want, faults)
		})
	}
}

const languages = "ar-EG, bg-BG, cs-CZ, da-DK, de-DE, el-GR, en-US, es-ES, fa-IR, fi-FI, fr-FR, he-IL, hi-IN, hr-HR, hu-HU, id-ID, it-IT, " +
	"ja-JP, ko-KR, lt-LT, ms-MY, nb-NO, nl-NL, pl-PL, pt-BR, ro-RO, ru-RU, sk-SK, sl-SI, sr-BA, sv-SE, th-TH, tl-PH, tr-TR, uk-UA, vi-VN, " +
	"zh-CN, zh-TW"

// TestFaultyFiles wants exactly these faults of whole files.
func TestFaultyFiles(t *testing.T) {
	tests := map[string]struct {
		file string
		want []string
	}{
		"an empty line": {"\n", []string{"1:1: the file is empty: it needs at least an origin and a room"}},
		"comments":      {"# nothing\n", []string{"1:1: the file is empty: it needs at least an origin and a room"}},
		"a null":        {"---\n", []string{"1:1: the file is empty: it needs at least an origin and a room"}},
		"a list":        {"- a\n", []string{"1:1: the file is a list: it has to be a mapping, with lines such as `listen: \":8080\"`"}},
		"two documents": {minimal + "---\n" + minimal, []string{"6:1: a second YAML document begins here: the configuration is one document"}},
		"a broken second document": {minimal + "---\na: b: c\n", []string{
			"7:5: not valid YAML: mapping values are not allowed in this context"}},
		"a tab":               {"log:\n\tlevel: info\n", []string{"2:1: not valid YAML: a tab is used to indent: YAML wants spaces"}},
		"a colon too many":    {"a: b: c\n", []string{"1:5: not valid YAML: mapping values are not allowed in this context"}},
		"an open quote":       {"a: 1\nb: 'c\nd: e\n", []string{"2:4: not valid YAML: what begins here is never closed: found unexpected end of stream"}},
		"an open bracket":     {"a: 1\nb: [c,\nd: e\n", []string{"2:4: not valid YAML: what begins here is never closed: did not find expected ',' or ']'"}},
		"a control character": {"a: 1\nb: \x01\n", []string{"2:4: control characters are not allowed"}},
		"another encoding":    {"a: 1\nb: \"\xfcbung\"\n", []string{"2:5: the file is not UTF-8 text"}},
		"an unknown anchor":   {"admin_token: *hunter2\n", []string{"1:14: not valid YAML: an alias without its anchor; a value that begins with an asterisk needs quotes"}},
		"too much":            {"#" + strings.Repeat("x", 1<<20) + "\n", []string{"1:1: the file is larger than 1 MiB"}},
		"no room":             {"origin: http://a\n", []string{"1:1: rooms: is required: a gate needs a room"}},
		"no rooms":            {"origin: http://a\nrooms: []\n", []string{"2:8: rooms: the list is empty: a gate needs a room"}},
		"a room that is text": {"rooms: [shop]\n", []string{"1:9: rooms[0]: expects a room: a mapping with name, total_active_users and more, got a string"}},
		"a room of nothing": {"rooms:\n  - {}\n", []string{
			"2:5: rooms[0].origin: is required: here, or at the top of the file for all rooms",
			"2:5: rooms[0].name: is required: letters, digits, - and _",
			"2:5: rooms[0].total_active_users: is required: how many visitors may be active at once",
			"2:5: rooms[0].new_users_per_minute: is required: how many visitors may be admitted in a minute",
		}},
		"a misspelt key is not missing as well": {strings.Replace(minimal, "total_", "totl_", 1), []string{
			`4:5: rooms[0].totl_active_users: unknown key (did you mean "total_active_users"?)`}},
		"limits below one": {strings.NewReplacer("20", "0", "10\n", "-1\n").Replace(minimal), []string{
			"4:25: rooms[0].total_active_users: 0 is too small: at least 1",
			"5:27: rooms[0].new_users_per_minute: -1 is too small: at least 1",
		}},
		"limits above what fits": {strings.Replace(minimal, "20", "2147483648", 1), []string{
			"4:25: rooms[0].total_active_users: 2147483648 is too large: at most 2147483647"}},
		"limits far above": {strings.Replace(minimal, "20", strings.Repeat("9", 30), 1), []string{
			"4:25: rooms[0].total_active_users: " + strings.Repeat("9", 30) + " is too large: at most 2147483647"}},
		"a name with a dot": {strings.Replace(minimal, "shop", "shop.test", 1), []string{
			`3:11: rooms[0].name: "shop.test" may hold letters, digits, - and _ only`}},
		"a self-merging mapping": {"a: &a\n  <<: *a\n" + minimal, []string{
			`1:1: a: unknown key; the keys here are listen, admin, admin_token, admin_token_file, operators, operators_file, store, state_dir, database, origin, ` +
				`trusted_proxies, trusted_proxies_file, cookie, tls, log, access_log, admissions_log, origin_timeout, progress_timeout, drain_delay, shutdown_grace, rooms, waitlists, webhook_hosts, webhooks, signature_agents, public_health, load_token, sign_requests, origins, h2c, host_header, transport, proxy_protocol, push_hosts`}},
		"a merge of text": {"<<: abc\n" + minimal, []string{"1:5: only a mapping can be merged, this is a string"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, faults := setup{file: tt.file}.load(t)
			for i := range tt.want {
				tt.want[i] = "gate.yaml:" + tt.want[i]
			}
			assert.Equal(t, tt.want, faults)
		})
	}
}

func TestAFileThatCannotBeReadIsAFaultWithoutALine(t *testing.T) {
	_, _, faults := setup{args: []string{"--queue-all=perhaps"}, tweak: func(o *config.Options) { o.File = "other.yaml" }}.load(t)
	assert.Equal(t, []string{
		"other.yaml: cannot read other.yaml: file does not exist",
		`--queue-all: "perhaps" is not true or false`,
	}, faults)
}

func TestAGateIsNotItsOwnOrigin(t *testing.T) {
	const circles = ": is the address that this gate listens on: requests would go round in circles"
	for origin, at := range map[string][]string{
		"http://127.0.0.1:80":   {":80", "127.0.0.1:80", "0.0.0.0:80", "[::]:80"},
		"http://localhost":      {":80", "127.0.0.1:80", "LOCALHOST:80"},
		"http://[::1]:8080":     {"localhost:8080"},
		"http://192.0.2.1:8080": {"192.0.2.1:8080"},
	} {
		for _, listen := range at {
			file := strings.Replace(minimal, "http://127.0.0.1:3000", origin, 1)
			_, _, faults := setup{file: file + "listen: '" + listen + "'\n"}.load(t)
			assert.Contains(t, faults, "gate.yaml:1:9: origin"+circles, "%s behind %s", origin, listen)
		}
	}
	for origin, listen := range map[string]string{
		"http://192.0.2.1:8080": "192.0.2.2:8080", "http://shop.test:8080": ":8080", "http://localhost:82": "127.0.0.2:82", "http://127.0.0.1:81": ":80", "https://localhost": ":80",
	} {
		file := strings.Replace(minimal, "http://127.0.0.1:3000", origin, 1)
		_, _, faults := setup{file: file + "listen: '" + listen + "'\n"}.load(t)
		assert.Empty(t, faults, "%s behind %s", origin, listen)
	}
}

func TestGatesThatShareAStoreNeedKeysThatAreGiven(t *testing.T) {
	const shared = minimal + "store: redis://a\n"
	reached := func(o *config.Options) { o.CheckStore = func(string) error { return nil } }
	_, _, faults := setup{file: shared, tweak: reached}.load(t)
	assert.Equal(t, []string{"gate.yaml:6:8: store: gates that share a store need the same keys: set cookie.keys or cookie.keys_file"}, faults)
	_, _, faults = setup{file: shared + "cookie: {keys: [a]}\n", tweak: reached}.load(t)
	assert.Empty(t, faults)
}

func TestAKeyIsCheckedByItsOwner(t *testing.T) {
	const key = "correct-horse"
	checked := setup{
		file: minimal + "cookie: {keys: [good, " + key + "]}\n",
		tweak: func(o *config.Options) {
			o.CheckKey = func(key string) error {
				if key == "good" {
					return nil
				}
				return errors.New("too weak")
			}
		},
	}
	_, _, faults := checked.load(t)
	assert.Equal(t, []string{"gate.yaml:6:23: cookie.keys[1]: not a cookie key: too weak"}, faults)

	checked.tweak = func(o *config.Options) { o.CheckKey = func(key string) error { return errors.New("bad: " + key) } }
	checked.file, checked.files = minimal+"cookie: {keys_file: k}\n", map[string]string{"/etc/gate/k": "# ours\n\n" + key + "\n"}
	_, _, faults = checked.load(t)
	assert.Equal(t, []string{"/etc/gate/k:3:1: cookie.keys_file: not a cookie key as `fairdoor keygen` prints it"}, faults)
}

func TestATemplateIsCheckedByItsOwner(t *testing.T) {
	s := setup{
		file:  minimal + "    template: pages/wait.html\nlisten: 8080\n",
		files: map[string]string{"/etc/gate/pages/wait.html": "{{>x}}"},
		tweak: func(o *config.Options) {
			o.CheckTemplate = func(path string, src []byte) []config.TemplateFault {
				assert.Equal(t, "/etc/gate/pages/wait.html", path)
				assert.Equal(t, "{{>x}}", string(src))
				return []config.TemplateFault{{Line: 1, Col: 1, Message: "no partials"}, {Message: "too odd"}, {Line: 2, Message: "empty", Harmless: true}}
			}
		},
	}
	_, warnings, faults := s.load(t)
	assert.Equal(t, []string{"/etc/gate/pages/wait.html:2:1: rooms[0].template: empty"}, warnings)
	assert.Equal(t, []string{
		"gate.yaml:6:15: rooms[0].template: /etc/gate/pages/wait.html: too odd",
		`gate.yaml:7:9: listen: expects an address such as ":8080", got a number: a string needs quotes here`,
		"/etc/gate/pages/wait.html:1:1: rooms[0].template: no partials",
	}, faults)

	s.tweak, s.file = nil, minimal+"    template: pages/wait.html\n"
	room := s.mustLoad(t).Rooms[0]
	require.Equal(t, "/etc/gate/pages/wait.html", room.Template)
	assert.Equal(t, "{{>x}}", string(room.TemplateSource))
}

func TestALogoHasToBeAPicture(t *testing.T) {
	s := setup{file: minimal + "    logo: logo.svg\n", files: map[string]string{"/etc/gate/logo.svg": "<svg/>"}}
	assert.Equal(t, "image/svg+xml", s.mustLoad(t).Rooms[0].LogoSource.Type)
	s.files["/etc/gate/logo.svg"] = "a picture"
	_, _, faults := s.load(t)
	assert.Equal(t, []string{"gate.yaml:6:11: rooms[0].logo: /etc/gate/logo.svg is no picture: expects PNG, JPEG, GIF, WebP or SVG"}, faults)
}

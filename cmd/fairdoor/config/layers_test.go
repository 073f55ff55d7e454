package config_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	roomconfig "github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestFlagsGoBeforeTheEnvironmentBeforeTheFileBeforeDefaults(t *testing.T) {
	const file = minimal + "    session_duration: 2m\nshutdown_grace: 2s\n"
	env := map[string]string{"FAIRDOOR_SESSION_DURATION": "3m", "FAIRDOOR_SHUTDOWN_GRACE": "3s"}
	args := []string{"--session-duration=4m", "--shutdown-grace=4s"}
	tests := map[string]struct {
		setup
		session, grace time.Duration
	}{
		"nothing":                 {setup{file: minimal}, 5 * time.Minute, 30 * time.Second},
		"the file":                {setup{file: file}, 2 * time.Minute, 2 * time.Second},
		"the environment":         {setup{file: minimal, env: env}, 3 * time.Minute, 3 * time.Second},
		"the file below":          {setup{file: file, env: env}, 3 * time.Minute, 3 * time.Second},
		"flags":                   {setup{file: minimal, args: args}, 4 * time.Minute, 4 * time.Second},
		"flags above all":         {setup{file: file, env: env, args: args}, 4 * time.Minute, 4 * time.Second},
		"an empty variable":       {setup{file: file, env: map[string]string{"FAIRDOOR_SESSION_DURATION": ""}}, 2 * time.Minute, 2 * time.Second},
		"the last of equal flags": {setup{file: file, args: append(args, "--shutdown-grace=5s")}, 4 * time.Minute, 5 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := tt.mustLoad(t)
			assert.Equal(t, tt.session, c.Rooms[0].SessionDuration)
			assert.Equal(t, tt.grace, c.ShutdownGrace)
		})
	}
}

func TestFlagsAloneMakeAGate(t *testing.T) {
	c := setup{args: []string{
		"--origin", "http://localhost:3000/", "--total-active-users=500", "--new-users-per-minute", "300", "--queueing-method=random",
		"--listen=:80", "--queue-all", "--json-response-enabled=false", "--trusted-proxies=10.0.0.0/8, ::1",
		"--trusted-proxies=192.0.2.7", "--host=shop.test", "--path=/buy", "--cookie-attributes-samesite=strict",
	}}.mustLoad(t)
	require.Len(t, c.Rooms, 1)
	r := c.Rooms[0]
	assert.Equal(t, "default", r.Name)
	assert.Equal(t, "http://localhost:3000", r.Origin)
	assert.Equal(t, 500, r.TotalActiveUsers)
	assert.Equal(t, 300, r.NewUsersPerMinute)
	assert.Equal(t, queue.Random, r.Method)
	assert.True(t, r.QueueAll)
	assert.False(t, r.JSON)
	assert.Equal(t, cookie.SameSiteStrict, r.CookieAttributes.SameSite)
	assert.Equal(t, "shop.test/buy", r.Host+r.Path)
	assert.Equal(t, ":80", c.Listen)
	assert.Equal(t, []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.0.2.7/32"),
	}, c.TrustedProxies)
}

func TestTheEnvironmentAloneMakesAGate(t *testing.T) {
	c := setup{env: map[string]string{
		"FAIRDOOR_ORIGIN": "http://localhost:3000", "FAIRDOOR_TOTAL_ACTIVE_USERS": "5", "FAIRDOOR_NEW_USERS_PER_MINUTE": "5",
		"FAIRDOOR_NAME": "shop", "FAIRDOOR_COOKIE_KEYS": "one, two", "FAIRDOOR_DISABLE_SESSION_RENEWAL": "1",
	}}.mustLoad(t)
	assert.Equal(t, "shop", c.Rooms[0].Name)
	assert.True(t, c.Rooms[0].DisableSessionRenewal)
	assert.Equal(t, []string{"one", "two"}, c.Cookie.Keys)
}

func TestFaultsOfFlagsAndVariablesAreInTheSameList(t *testing.T) {
	_, _, faults := setup{
		file: "listen: 80\n" + minimal,
		env:  map[string]string{"FAIRDOOR_PACING": "evn", "FAIRDOOR_STORE": "etcd", "FAIRDOOR_LISTEN": "x"},
		args: []string{"--refresh-jitter=2", "--trusted-proxies=a,b", "--total-active-users=012"},
	}.load(t)
	assert.Equal(t, []string{
		`gate.yaml:1:9: listen: expects an address such as ":8080", got a number: a string needs quotes here`,
		`FAIRDOOR_LISTEN: "x" is not host:port, such as ":8080", "127.0.0.1:8080" or "[::1]:8080"`,
		`FAIRDOOR_STORE: the supported store is memory, which keeps the queue in this process and its journal in state_dir`,
		`FAIRDOOR_PACING: "evn" is not one of auto, minute, even, random, early (did you mean "even"?)`,
		`--trusted-proxies: "a" is not a network such as 10.0.0.0/8 or 2001:db8::/32`,
		`--trusted-proxies: "b" is not a network such as 10.0.0.0/8 or 2001:db8::/32`,
		`--total-active-users: "012" is not a whole number in plain digits (did you mean 12?)`,
		`--refresh-jitter: "2" is out of bounds: from 0 to 0.5`,
	}, faults)
}

func TestTwoItemsOfAVariableThatAreWrongInOneWayAreOneLine(t *testing.T) {
	_, _, faults := setup{
		file: minimal,
		env:  map[string]string{"FAIRDOOR_COOKIE_KEYS": "[revoke, revoke]", "FAIRDOOR_TRUSTED_PROXIES": "a,b,a"},
		tweak: func(o *config.Options) {
			o.CheckKey = func(string) error { return errors.New("cut short") }
		},
	}.load(t)
	assert.Equal(t, []string{
		`FAIRDOOR_TRUSTED_PROXIES: "a" is not a network such as 10.0.0.0/8 or 2001:db8::/32`,
		`FAIRDOOR_TRUSTED_PROXIES: "b" is not a network such as 10.0.0.0/8 or 2001:db8::/32`,
		`FAIRDOOR_COOKIE_KEYS: not a cookie key: cut short`,
	}, faults)
}

func TestFaultsOfVariablesAndOfFlagsAreInTheOrderOfTheKeys(t *testing.T) {
	_, _, faults := setup{
		file: minimal,
		env:  map[string]string{"FAIRDOOR_PACING": "evn", "FAIRDOOR_TLS_CERT": "a.pem"},
		args: []string{"--refresh-jitter=2", "--admin=:9090", "--line-dropout=2s"},
	}.load(t)
	assert.Equal(t, []string{
		`FAIRDOOR_TLS_CERT: goes together with --tls-key`,
		`FAIRDOOR_PACING: "evn" is not one of auto, minute, even, random, early (did you mean "even"?)`,
		`--admin: ":9090" can be reached from other machines: that needs admin_token, admin_token_file or operators_file`,
		`--refresh-jitter: "2" is out of bounds: from 0 to 0.5`,
		`--line-dropout: 2s is too short: longer than a refresh interval, which is 20s, with some to spare for the way`,
	}, faults)
}

func TestWithoutAFileMissingSettingsAreNamedAsFlags(t *testing.T) {
	_, _, faults := setup{}.load(t)
	assert.Equal(t, []string{
		"--origin: is required: where accepted visitors go",
		"--total-active-users: is required: how many visitors may be active at once",
		"--new-users-per-minute: is required: how many visitors may be admitted in a minute",
	}, faults)
}

const twoRooms = minimal + `  - {name: tickets, path: /tickets, origin: "http://127.0.0.1:4000", total_active_users: 2, new_users_per_minute: 1}
`

func TestARoomsFlagsNeedASingleRoom(t *testing.T) {
	_, _, faults := setup{file: twoRooms, env: map[string]string{"FAIRDOOR_HOST": "a"}, args: []string{"--queue-all"}}.load(t)
	assert.Equal(t, []string{
		"FAIRDOOR_HOST: is about one room, and gate.yaml has 2: set host there",
		"--queue-all: is about one room, and gate.yaml has 2: set queue_all there",
	}, faults)
}

func TestAFileWithoutRoomsTakesItsRoomFromFlags(t *testing.T) {
	c := setup{file: "origin: http://a\n", args: []string{"--total-active-users=1", "--new-users-per-minute=1"}}.mustLoad(t)
	assert.Equal(t, "default", c.Rooms[0].Name)
}

func TestTheOriginFlagGoesBeforeTheOnlyRoomsOwn(t *testing.T) {
	args := []string{"--origin=http://127.0.0.1:5000"}
	c := setup{file: minimal + "    origin: http://127.0.0.1:4000\n", args: args}.mustLoad(t)
	assert.Equal(t, "http://127.0.0.1:5000", c.Rooms[0].Origin)

	c, warnings, faults := setup{file: twoRooms, args: args}.load(t)
	require.Empty(t, faults)
	assert.Equal(t, []string{`--origin: the room "tickets" keeps the origin that the file gives it`}, warnings)
	assert.Equal(t, "http://127.0.0.1:5000", c.Rooms[0].Origin)
	assert.Equal(t, "http://127.0.0.1:4000", c.Rooms[1].Origin)
}

func TestNamesOfFlagsAndVariablesFollowFromTheKeys(t *testing.T) {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.BindFlags(flags)
	names := map[string]bool{}
	for _, k := range config.Keys() {
		assert.NotEmpty(t, k.Usage, k.Name)
		if k.Flag == "" {
			continue
		}
		assert.False(t, names[k.Flag], "two keys have the flag %s", k.Flag)
		names[k.Flag] = true
		f := flags.Lookup(k.Flag)
		require.NotNil(t, f, k.Flag)
		assert.Equal(t, k.Default, f.DefValue, k.Flag)
	}
	for _, name := range []string{
		"origin", "total-active-users", "new-users-per-minute", "queueing-method", "listen", "admin", "store", "state-dir",
		"session-duration", "refresh-interval", "disable-session-renewal", "queue-all", "queueing-status-code", "template", "host", "path",
		"name", "cookie-suffix", "trusted-proxies", "cookie-keys-file", "tls-cert", "tls-key", "log-level", "log-format",
		"on-store-error", "json-response-enabled",
	} {
		assert.True(t, names[name], "--%s is missing", name)
	}
	assert.Nil(t, flags.Lookup("admin-token"), "a command line is no place for a secret")
	assert.Nil(t, flags.Lookup("cookie-keys"), "a command line is no place for a secret")
}

func TestEveryDefaultIsRight(t *testing.T) {
	c := setup{file: minimal}.mustLoad(t)
	r := c.Rooms[0]
	for _, k := range config.Keys() {
		if k.Default == "" || k.Env == "" {
			continue
		}
		s, want := setup{file: minimal, env: map[string]string{k.Env: k.Default}}, c
		if k.Name == "max_rooms" || k.Name == "room_idle" { // which need braces
			s.file += "    path: /room/{id}\n"
			want = setup{file: s.file}.mustLoad(t)
		}
		same, _, faults := s.load(t)
		require.Empty(t, faults, k.Name)
		assert.Equal(t, want, same, k.Name)
	}
	assert.Equal(t, config.Room{
		Name: "shop", Path: "/", MaxRooms: 100, RoomIdle: 10 * time.Minute, Origin: "http://127.0.0.1:3000",
		Settings: queue.Settings{
			TotalActiveUsers: 20, NewUsersPerMinute: 10, SessionDuration: 5 * time.Minute,
			RefreshInterval: 20 * time.Second, RefreshIntervalMax: 2 * time.Minute, StreamWithin: 5 * time.Minute, RefreshJitter: 0.15, QueueTicketTTL: 30 * time.Minute, ConfirmWithin: time.Minute, LineGrace: 15 * time.Second,
		},
		Basics: roomconfig.Basics{
			StatusCode: 200, JSON: true, CookieAttributes: cookie.Attributes{SameSite: "auto", Secure: "auto"}, Admission: "open", BindTicket: "off", Cache: "auto",
		},
		DefaultTemplateLanguage: "en-US", Features: proxy.RoomOptions{Challenge: challenge.Config{Provider: "off", OnUnreachable: "join"}},
	}, r)
}

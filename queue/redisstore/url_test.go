package redisstore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

func TestURL(t *testing.T) {
	t.Parallel()
	type dialled struct {
		addrs                      []string
		master, user, password     string
		sentinelUser, sentinelPass string
		db                         int
		tls                        bool
		serverName                 string
	}
	for url, want := range map[string]dialled{
		"redis://localhost":                    {addrs: []string{"localhost:6379"}},
		"redis://10.0.0.1:7000":                {addrs: []string{"10.0.0.1:7000"}},
		"redis://[::1]":                        {addrs: []string{"[::1]:6379"}},
		"redis://[::1]:7000/3":                 {addrs: []string{"[::1]:7000"}, db: 3},
		"redis://h/":                           {addrs: []string{"h:6379"}},
		"redis://:p%40ss@h":                    {addrs: []string{"h:6379"}, password: "p@ss"},
		"redis://gate:p@h:1/2":                 {addrs: []string{"h:1"}, user: "gate", password: "p", db: 2},
		"redis://h?user=gate&password=a%26b":   {addrs: []string{"h:6379"}, user: "gate", password: "a&b"},
		"rediss://h":                           {addrs: []string{"h:6379"}, tls: true},
		"rediss://h?server_name=redis.example": {addrs: []string{"h:6379"}, tls: true, serverName: "redis.example"},
		"redis+sentinel://room@a,b,c":          {addrs: []string{"a:26379", "b:26379", "c:26379"}, master: "room"},
		"redis+sentinel://room:p@a:1,[::2]:2/4?user=gate&sentinel_user=s&sentinel_password=q": {
			addrs: []string{"a:1", "[::2]:2"}, master: "room", user: "gate", password: "p", sentinelUser: "s", sentinelPass: "q", db: 4,
		},
		"rediss+sentinel://room@a":      {addrs: []string{"a:26379"}, master: "room", tls: true},
		"redis+cluster://a:7000,b:7001": {addrs: []string{"a:7000", "b:7001"}},
		"redis+cluster://u:p@a:7000,b":  {addrs: []string{"a:7000", "b:6379"}, user: "u", password: "p"},
		"rediss+cluster://a":            {addrs: []string{"a:6379"}, tls: true},
	} {
		t.Run(url, func(t *testing.T) {
			require.NoError(t, redisstore.Check(url))
			o, err := redisstore.Options(url)
			require.NoError(t, err)
			got := dialled{
				addrs: o.Addrs, master: o.MasterName, user: o.Username, password: o.Password, db: o.DB,
				sentinelUser: o.SentinelUsername, sentinelPass: o.SentinelPassword, tls: o.TLSConfig != nil,
			}
			if got.tls {
				got.serverName = o.TLSConfig.ServerName
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestTheServersOfAURLHoldNoSecrets(t *testing.T) {
	for given, want := range map[string][]string{
		"redis://user:sec%40ret@host":                                               {"host:6379"},
		"rediss://host:6380/1?user=gate&password=secret":                            {"host:6380"},
		"rediss://host:6380/1?user=gate&password=sec@ret":                           nil,
		"redis+sentinel://master@a,b:2,[::1]?password=secret&sentinel_password=too": {"a:26379", "b:2", "[::1]:26379"},
		"redis+cluster://user:secret@a:1,b":                                         {"a:1", "b:6379"},
		"redis://user:sec?ret@host":                                                 nil,
	} {
		assert.Equal(t, want, redisstore.Servers(given), given)
	}
}

func TestURLFaults(t *testing.T) {
	t.Parallel()
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(noPEM, []byte("hello"), 0o600))
	const secret = "hunter2"
	for name, c := range map[string]struct{ url, says string }{
		"nothing":                          {"", "cannot be read"},
		"no scheme":                        {"localhost:6379", "cannot be read"},
		"another scheme":                   {"mysql://root:" + secret + "@h", "want memory, redis://"},
		"a scheme that is a password":      {secret + "://h", "unknown scheme"},
		"a mode that is none":              {"redis+ring://:" + secret + "@h", "unknown scheme"},
		"no host":                          {"redis://", "names no host"},
		"no host after the password":       {"redis://:" + secret + "@", "names no host"},
		"an empty host in the list":        {"redis+cluster://a,,b", "host that is none"},
		"a port that is none":              {"redis://:" + secret + "@h:x", "host that is none"},
		"a port too high":                  {"redis://h:70000", "host that is none"},
		"port zero":                        {"redis://h:0", "host that is none"},
		"a bare IPv6 address":              {"redis://::1", "host that is none"},
		"a password with a slash":          {"redis://:" + secret + "/x@h", "written as %XX"},
		"a password with a question mark":  {"redis://:a?" + secret + "@h", "written as %XX"},
		"a password with a hash":           {"redis://:a#" + secret + "@h", "written as %XX"},
		"a percent sign that is none":      {"redis://:%zz" + secret + "@h", "written as %XX"},
		"a fragment":                       {"redis://h#" + secret, "cannot be read"},
		"several hosts of a single server": {"redis://:" + secret + "@a,b", "redis+sentinel:// or redis+cluster://"},
		"Sentinels without a master":       {"redis+sentinel://a,b", "names no master"},
		"a database that is none":          {"redis://:" + secret + "@h/x", "number of a database"},
		"a negative database":              {"redis://h/-1", "number of a database"},
		"a database of a Cluster":          {"redis+cluster://:" + secret + "@h/1", "nothing for a Cluster"},
		"an option that is none":           {"redis://h?pasword=" + secret, `option "pasword": want password, user`},
		"an option twice":                  {"redis://h?password=" + secret + "&password=b", `"password" empty or twice`},
		"an option without a value":        {"redis://h?user", `"user" empty or twice`},
		"a query that cannot be read":      {"redis://h?password=%zz" + secret, "cannot be read"},
		"a Sentinel option of one server":  {"redis://h?sentinel_password=" + secret, `option "sentinel_password"`},
		"a TLS option without TLS":         {"redis://h?ca=x", `option "ca"`},
		"a certificate that is not there":  {"rediss://:" + secret + "@h?ca=/nowhere.pem", "/nowhere.pem"},
		"a certificate that is not PEM":    {"rediss://:" + secret + "@h?ca=" + noPEM, "no PEM certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			err := redisstore.Check(c.url)
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), secret)
			_, _, err = redisstore.Open(context.Background(), c.url)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func TestCheckAtTheStart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	fails := func(t *testing.T, url, says string) {
		t.Helper()
		before := time.Now()
		_, _, err := redisstore.Open(ctx, url)
		require.ErrorContains(t, err, says)
		assert.NotContains(t, err.Error(), "s3cret")
		assert.Less(t, time.Since(before), 10*time.Second)
	}
	t.Run("a server that refuses", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.Options{})
		server.Kill()
		fails(t, server.URL(), "connection refused")
	})
	t.Run("a server that hangs", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.Options{})
		server.Stop()
		fails(t, server.URL(), "checking the store")
	})
	t.Run("a wrong password", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.Options{Password: "right"})
		fails(t, "redis://:s3cret@"+server.Addr, "WRONGPASS")
		fails(t, "redis://"+server.Addr, "NOAUTH")
	})
	t.Run("a certificate that nobody vouches for", func(t *testing.T) {
		server := redistest.Start(t, redistest.Options{TLS: true})
		fails(t, "rediss://:s3cret@"+server.Addr, "certificate")
		fails(t, server.URL()+"&server_name=elsewhere.example", "elsewhere.example")
	})
	t.Run("TLS where none is spoken, and none where it is", func(t *testing.T) {
		t.Parallel()
		plain := redistest.Start(t, redistest.Options{})
		fails(t, "rediss://"+plain.Addr, "does it speak TLS?")
		server := redistest.Start(t, redistest.Options{TLS: true})
		fails(t, "redis://"+server.Addr, "does it want TLS?")
	})
	t.Run("a Cluster as if it were one server, and one server as if it were a Cluster", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.Options{})
		fails(t, "redis+cluster://"+server.Addr, "checking the store")
		node := redistest.Start(t, redistest.Options{Cluster: true})
		fails(t, "redis://"+node.Addr, "redis+cluster://")
	})
	t.Run("Sentinels that know no such master", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.Options{})
		fails(t, "redis+sentinel://room@"+server.Addr, "checking the store")
	})
	t.Run("memory that is limited by throwing keys out", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.Options{MaxMemory: "100mb", Policy: "allkeys-lru"})
		fails(t, server.URL(), "maxmemory-policy is allkeys-lru")
	})
	t.Run("a policy that would throw keys out is a warning while memory is not limited", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.Options{Policy: "volatile-ttl"})
		s, warnings, err := redisstore.Open(ctx, server.URL())
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Len(t, warnings, 1)
		assert.Contains(t, warnings[0], "volatile-ttl")
	})
}

func TestWhatAServerTellsOfItselfIsChecked(t *testing.T) {
	t.Parallel()
	const fine = "\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n"
	for name, c := range map[string]struct{ info, warning, fault string }{
		"Redis 6.2":           {info: "redis_version:6.2.0" + fine},
		"Redis 8":             {info: "# Server\r\nredis_version:8.2.1" + fine},
		"Redis 10":            {info: "redis_version:10.0" + fine},
		"Valkey":              {info: "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1" + fine},
		"Redis 6.0":           {info: "redis_version:6.0.16" + fine, fault: "it is Redis 6.0.16: want 6.2 or newer"},
		"Redis 5":             {info: "redis_version:5.0.14" + fine, fault: "want 6.2 or newer"},
		"something else":      {info: "redis_version:unstable" + fine, fault: "want 6.2 or newer"},
		"no version":          {info: fine, fault: "want 6.2 or newer"},
		"no word of a policy": {info: "redis_version:7.0.0\r\n", warning: "make sure that it is noeviction"},
	} {
		t.Run(name, func(t *testing.T) {
			warning, err := redisstore.CheckInfo(c.info)
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, warning, c.warning)
			assert.Equal(t, c.warning == "", warning == "")
		})
	}
}

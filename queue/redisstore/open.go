package redisstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// mode is how the servers behind a URL hang together.
type mode int

const (
	single mode = iota
	sentinel
	cluster
)

// schemes are the modes by the URL's scheme; those with an s after redis speak
// TLS.
var schemes = map[string]struct {
	mode mode
	tls  bool
}{
	"redis":           {single, false},
	"rediss":          {single, true},
	"redis+sentinel":  {sentinel, false},
	"rediss+sentinel": {sentinel, true},
	"redis+cluster":   {cluster, false},
	"rediss+cluster":  {cluster, true},
}

// target is a URL, read.
type target struct {
	mode   mode
	master string
	opts   redis.UniversalOptions
}

// Check says what is wrong with the URL of a store, without its secrets.
func Check(rawURL string) error {
	_, err := parse(rawURL)
	return err
}

// Open connects to the store at the URL:
//
//	redis://[user:password@]host[:port][/db]            one server
//	redis+sentinel://master@host,host,host[:port][/db]  a master that Sentinels know
//	redis+cluster://[user:password@]host,host,host      a Cluster
//
// With rediss in the place of redis it speaks TLS. Options in the query: user
// and password (also where the URL has no place for them), sentinel_user,
// sentinel_password, and for TLS ca (a PEM file) and server_name. It fails if
// the servers cannot be reached, are too old, or may drop keys when memory is
// short; what else is odd about them is returned as warnings.
func Open(ctx context.Context, rawURL string) (*Store, []string, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, nil, err
	}
	s := &Store{client: t.connect()}
	warnings, err := s.check(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, warnings, nil
}

func parse(rawURL string) (*target, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("the store's URL cannot be read: want redis://host:6379")
	}
	kind, ok := schemes[u.Scheme]
	if !ok {
		return nil, fmt.Errorf("store %s://… is not known: want memory, redis://, rediss://, redis+sentinel:// or redis+cluster://", u.Scheme)
	}
	t := &target{mode: kind.mode}
	if err := t.readHosts(u); err != nil {
		return nil, err
	}
	if err := t.readQuery(u.Query(), kind.tls, u.Hostname()); err != nil {
		return nil, err
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		db, err := strconv.Atoi(path)
		if err != nil || db < 0 || t.mode == cluster {
			return nil, fmt.Errorf("the store's URL ends in /%s: want a database number, and none for a Cluster", path)
		}
		t.opts.DB = db
	}
	return t, nil
}

func (t *target) readHosts(u *url.URL) error {
	port := map[mode]string{single: "6379", sentinel: "26379", cluster: "6379"}[t.mode]
	for _, host := range strings.Split(u.Host, ",") {
		if host == "" {
			return errors.New("the store's URL names no host")
		}
		if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
			host += ":" + port
		}
		t.opts.Addrs = append(t.opts.Addrs, host)
	}
	if t.mode == single && len(t.opts.Addrs) > 1 {
		return errors.New("the store's URL names several hosts: want redis+sentinel:// or redis+cluster://")
	}
	password, _ := u.User.Password()
	if t.mode == sentinel {
		t.master = u.User.Username()
		if t.master == "" {
			return errors.New("the store's URL names no master: want redis+sentinel://master@host,host,host")
		}
		t.opts.Password = password
		return nil
	}
	t.opts.Username, t.opts.Password = u.User.Username(), password
	return nil
}

func (t *target) readQuery(query url.Values, secure bool, host string) error {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	for key, values := range query {
		value := values[0]
		switch key {
		case "user":
			t.opts.Username = value
		case "password":
			t.opts.Password = value
		case "sentinel_user":
			t.opts.SentinelUsername = value
		case "sentinel_password":
			t.opts.SentinelPassword = value
		case "server_name":
			config.ServerName = value
		case "ca":
			pem, err := os.ReadFile(value)
			if err != nil {
				return fmt.Errorf("reading the store's certificate authority: %w", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return fmt.Errorf("%s holds no PEM certificate", value)
			}
		default:
			return fmt.Errorf("the store's URL has an option %q: want user, password, sentinel_user, sentinel_password, ca or server_name", key)
		}
	}
	if secure {
		if config.ServerName == "" && t.mode == single {
			config.ServerName = host
		}
		t.opts.TLSConfig = config
	}
	return nil
}

// connect makes the client. Scripts are never sent twice by it: a reply that was
// lost is asked for again by the node, which knows how. A call that is out of
// time is given up.
func (t *target) connect() redis.UniversalClient {
	o := &t.opts
	o.Protocol = 3
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = 250*time.Millisecond, time.Second, time.Second
	o.DialerRetries = 1
	o.MaxRetries = -1
	o.ContextTimeoutEnabled = true
	o.PoolSize, o.MinIdleConns = 16, 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch t.mode {
	case sentinel:
		failover := o.Failover()
		failover.MasterName = t.master
		return redis.NewFailoverClient(failover)
	case cluster:
		return redis.NewClusterClient(o.Cluster())
	default:
		return redis.NewClient(o.Simple())
	}
}

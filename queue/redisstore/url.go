package redisstore

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// mode is how the servers behind a URL belong together.
type mode int

const (
	single mode = iota
	sentinel
	cluster
)

// scheme is the meaning of a URL's scheme.
type scheme struct {
	mode mode
	tls  bool
	port string // where a host names none
}

func schemeOf(name string) (scheme, bool) {
	plain, secure := name, false
	if rest, ok := strings.CutPrefix(name, "rediss"); ok {
		plain, secure = "redis"+rest, true
	}
	switch plain {
	case "redis":
		return scheme{single, secure, "6379"}, true
	case "redis+sentinel":
		return scheme{sentinel, secure, "26379"}, true
	case "redis+cluster":
		return scheme{cluster, secure, "6379"}, true
	}
	return scheme{}, false
}

// target is what a URL names.
type target struct {
	scheme
	opts redis.UniversalOptions
}

// These errors show nothing of the URL: where it is wrong, any part may be a password.
var (
	errURL  = errors.New("the store's URL cannot be read: want redis://host:6379; special characters in a password are written as %XX")
	errHost = errors.New("the store's URL has a host that is none: want a name or an address, and a port from 1 to 65535 where it is not the usual one")
)

// parse reads a URL. Its errors show nothing of it but the names of options.
func parse(rawURL string) (*target, error) {
	name, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, errURL
	}
	s, ok := schemeOf(name)
	if !ok {
		return nil, errors.New("the store's URL has an unknown scheme: want memory, redis://, redis+sentinel:// or redis+cluster://, or rediss in the place of redis for TLS")
	}
	user, hosts, path := cutHosts(rest)
	// net/url reads no list of hosts.
	u, err := url.Parse("redis://" + user + "hosts" + path)
	if err != nil || u.Fragment != "" || strings.Contains(path, "@") {
		return nil, errURL
	}
	t := &target{scheme: s}
	for _, err := range []error{t.readHosts(hosts), t.readUser(u), t.readPath(u.Path), t.readQuery(u.RawQuery)} {
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// cutHosts cuts out of a URL without its scheme the list of hosts: what is before it ends
// with an @, if there is anything, and what is after it begins with the path, the query
// or the fragment.
func cutHosts(rest string) (user, hosts, path string) {
	hosts = rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		hosts, path = rest[:i], rest[i:]
	}
	i := strings.LastIndex(hosts, "@")
	return hosts[:i+1], hosts[i+1:], path
}

func (t *target) readHosts(hosts string) error {
	if hosts == "" {
		return errors.New("the store's URL names no host")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		addr, err := address(host, t.port)
		if err != nil {
			return err
		}
		t.opts.Addrs = append(t.opts.Addrs, addr)
	}
	if t.mode == single && len(t.opts.Addrs) > 1 {
		return errors.New("the store's URL names several hosts: want redis+sentinel:// or redis+cluster://")
	}
	return nil
}

// address returns a host's address: with the given port where the host names none.
func address(host, port string) (string, error) {
	if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
		host += ":" + port
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil || name == "" {
		return "", errHost
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errHost
	}
	return net.JoinHostPort(name, port), nil
}

func (t *target) readUser(u *url.URL) error {
	t.opts.Username = u.User.Username()
	t.opts.Password, _ = u.User.Password()
	if t.mode != sentinel {
		return nil
	}
	t.opts.MasterName, t.opts.Username = t.opts.Username, ""
	if t.opts.MasterName == "" {
		return errors.New("the store's URL names no master: want redis+sentinel://master@host,host,host")
	}
	return nil
}

func (t *target) readPath(path string) error {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	db, err := strconv.ParseUint(path, 10, 16)
	if err != nil || t.mode == cluster {
		return errors.New("the store's URL has a path: want the number of a database or nothing, and nothing for a Cluster")
	}
	t.opts.DB = int(db)
	return nil
}

func (t *target) readQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errURL
	}
	texts := map[string]*string{"user": &t.opts.Username, "password": &t.opts.Password}
	if t.mode == sentinel {
		texts["sentinel_user"], texts["sentinel_password"] = &t.opts.SentinelUsername, &t.opts.SentinelPassword
	}
	var ca, serverName string
	if t.tls {
		texts["ca"], texts["server_name"] = &ca, &serverName
	}
	for key, values := range query {
		into := texts[key]
		switch {
		case into == nil:
			return fmt.Errorf("the store's URL has an option %q: want %s", key, strings.Join(slices.Sorted(maps.Keys(texts)), ", "))
		case len(values) > 1 || values[0] == "":
			return fmt.Errorf("the store's URL has the option %q empty or twice", key)
		}
		*into = values[0]
	}
	if !t.tls {
		return nil
	}
	t.opts.TLSConfig, err = trust(ca, serverName)
	return err
}

// trust returns how to speak TLS: with the certificate authorities in a PEM file, or the
// system's. Without a server name, each server goes by the name that it is dialled by.
func trust(ca, serverName string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName}
	if ca == "" {
		return config, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("reading the store's certificate authority: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading the store's certificate authority: %s holds no PEM certificate", ca)
	}
	return config, nil
}

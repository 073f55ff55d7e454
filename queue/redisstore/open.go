package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Check returns what is wrong with the URL of a store. The error shows no secrets.
func Check(rawURL string) error {
	_, err := parse(rawURL)
	return err
}

// Servers are the addresses of the servers of the URL of a store; none if something is wrong with it.
// They hold no secrets.
func Servers(rawURL string) []string {
	t, err := parse(rawURL)
	if err != nil {
		return nil
	}
	return t.opts.Addrs
}

// Open connects to the store at the URL:
//
//	redis://[user:password@]host[:port][/db]            one server
//	redis+sentinel://master@host,host,host[:port][/db]  a master that Sentinels know
//	redis+cluster://[user:password@]host,host,host      a Cluster
//
// With rediss in the place of redis it speaks TLS. Options in the query: user
// and password (also where the URL has no place for them), sentinel_user and
// sentinel_password, and for TLS ca (a PEM file) and server_name. It fails if
// the servers cannot be reached, are too old, or may drop keys when memory is
// short. Whatever else is odd about them makes warnings.
func Open(ctx context.Context, rawURL string) (*Store, []string, error) {
	return OpenOver(ctx, rawURL, nil)
}

// Dial opens a connection to a server, as the DialContext of a net.Dialer does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// OpenOver is Open over connections that dial opens; those of the network if it is nil.
func OpenOver(ctx context.Context, rawURL string, dial Dial) (*Store, []string, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, nil, err
	}
	t.opts.Dialer = dial
	s := &Store{client: t.connect(), slack: Slack, budget: Budget}
	warnings, err := s.check(ctx)
	if err != nil {
		return nil, nil, errors.Join(t.explain(err), s.Close())
	}
	return s, warnings, nil
}

// explain adds the most likely cause to an error of the start that does not name it.
func (t *target) explain(err error) error {
	switch {
	case t.tls && errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w (does it speak TLS? If not, the URL begins with redis)", err)
	case !t.tls && errors.Is(err, io.EOF):
		return fmt.Errorf("%w (does it want TLS? Then the URL begins with rediss)", err)
	}
	return err
}

// clusterReload is how often a client in use asks a Cluster for its masters: a master
// that has died does not tell which one has taken over from it.
const clusterReload = 2 * time.Second

// connect makes the client. The client sends no script twice: where a reply was lost, the
// node asks again, because it knows how. The client gives up a call that is out of time.
func (t *target) connect() redis.UniversalClient {
	o := &t.opts
	o.Protocol = 3
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = 250*time.Millisecond, checkTime, checkTime
	o.DialerRetries = 1
	o.MaxRetries = -1
	o.ContextTimeoutEnabled = true
	o.PoolSize, o.MinIdleConns = 16, 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch t.mode {
	case sentinel:
		return redis.NewFailoverClient(o.Failover())
	case cluster:
		c := o.Cluster()
		c.ClusterStateReloadInterval = clusterReload
		return redis.NewClusterClient(c)
	default:
		return redis.NewClient(o.Simple())
	}
}

package waitlist_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// far is a way to a PostgreSQL that counts how often it is asked.
type far struct {
	t       testing.TB
	network string
	address string
	asked   atomic.Int64

	closed   bool // until open
	listener net.Listener
}

// open lets in from now on.
func (f *far) open() {
	f.t.Helper()
	l, err := net.Listen("tcp", f.listener.Addr().String())
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = l.Close() })
	go f.serve(l)
}

// by returns the URL of a database by that way.
func (f *far) by(name string) string {
	f.t.Helper()
	u, err := url.Parse(name)
	require.NoError(f.t, err)
	query := u.Query()
	f.network, f.address = "tcp", u.Host
	if dir := query.Get("host"); dir != "" {
		port := query.Get("port")
		if port == "" {
			port = "5432"
		}
		f.network, f.address = "unix", dir+"/.s.PGSQL."+port
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f.t, err)
	f.listener = l
	f.t.Cleanup(func() { _ = l.Close() })
	if f.closed {
		require.NoError(f.t, l.Close())
	} else {
		go f.serve(l)
	}
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = l.Addr().String(), query.Encode()
	return u.String()
}

func (f *far) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(f.network, f.address)
		if err != nil {
			_ = c.Close()
			continue
		}
		go func() { _, _ = io.Copy(c, server); _ = c.Close() }()
		go func() { _, _ = io.Copy(server, counted{c, f}); _ = server.Close() }()
	}
}

// counted counts what is read from a connection.
type counted struct {
	net.Conn
	*far
}

func (c counted) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.asked.Add(1)
	return n, err
}

func TestManyAreWrittenWithFewQuestionsToPostgreSQL(t *testing.T) {
	way := &far{t: t}
	w := newWorld(t, way.by(postgres.Database(t)), settings())
	var text strings.Builder
	text.WriteString("email,referral_code\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "person%d@example.com,code%d\n", i, i)
	}
	before := way.asked.Load()
	require.Equal(t, 1000, must(w.Import(ctx, strings.NewReader(text.String()), nil, operator, w.now)).Added)
	assert.Less(t, way.asked.Load()-before, int64(500), "to import 1000")
	before = way.asked.Load()
	require.Equal(t, 1000, w.release(1000))
	assert.Less(t, way.asked.Load()-before, int64(500), "to invite 1000")
	t.Logf("asked %d times", way.asked.Load())
	assert.Len(t, must(w.Entries(ctx, waitlist.Search{Status: waitlist.Invited, Most: 1000})).Entries, 1000)
}

// Package dnstest is a name server on this machine, for tests of what is asked of DNS.
package dnstest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// Server answers questions about the names and addresses that it was told of. For all others it
// says that there is no such name.
type Server struct {
	t    testing.TB
	conn net.PacketConn

	mu     sync.Mutex
	names  map[string][]string     // by the question: 1.2.0.192.in-addr.arpa.
	addrs  map[string][]netip.Addr // by the name, with a dot at its end
	silent bool
	held   []question
	asked  int // how often for the names of an address
}

// question is one that waits for its answer.
type question struct {
	dnsmessage.Message
	from net.Addr
}

// Start starts a server. It ends with its test.
func Start(t testing.TB) *Server {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{t: t, conn: conn, names: map[string][]string{}, addrs: map[string][]netip.Addr{}}
	var ended sync.WaitGroup
	ended.Go(s.serve)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		ended.Wait()
	})
	return s
}

// Resolver asks the server.
func (s *Server) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

// Name has an address be called by a name.
func (s *Server) Name(addr, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	question := reverse(netip.MustParseAddr(addr))
	s.names[question] = append(s.names[question], name+".")
}

// Address has a name stand for an address.
func (s *Server) Address(name, addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addrs[name+"."] = append(s.addrs[name+"."], netip.MustParseAddr(addr))
}

// Machine has a name stand for an address, and the address be called by it.
func (s *Server) Machine(name, addr string) {
	s.Name(addr, name)
	s.Address(name, addr)
}

// Forget forgets all names and addresses.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.names)
	clear(s.addrs)
}

// Hold has the server answer nothing until Release.
func (s *Server) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = true
}

// Release answers what was asked since Hold, and what is asked from now on.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = false
	for _, q := range s.held {
		s.answer(q)
	}
	s.held = nil
}

// Asked is how often somebody has asked for the names of an address.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Server) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		var m dnsmessage.Message
		if !assert.NoError(s.t, err) || !assert.NoError(s.t, m.Unpack(buf[:n])) {
			return
		}
		s.take(question{m, from})
	}
}

// take answers a question, or keeps it for later.
func (s *Server) take(q question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Questions[0].Type == dnsmessage.TypePTR {
		s.asked++
	}
	if s.silent {
		s.held = append(s.held, q)
		return
	}
	s.answer(q)
}

// answer answers a question. Whoever does not wait for it any more goes without. The caller holds
// mu.
func (s *Server) answer(q question) {
	asked, name := q.Questions[0], strings.ToLower(q.Questions[0].Name.String())
	q.Response, q.Authoritative, q.RecursionAvailable, q.Additionals = true, true, true, nil
	for _, body := range s.bodies(asked.Type, name) {
		q.Answers = append(q.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: asked.Name, Class: asked.Class, TTL: 60}, Body: body})
	}
	if len(s.names[name])+len(s.addrs[name]) == 0 {
		q.RCode = dnsmessage.RCodeNameError
	}
	packed, err := q.Pack()
	assert.NoError(s.t, err)
	_, _ = s.conn.WriteTo(packed, q.from)
}

// bodies are the records of a type that a name has. The caller holds mu.
func (s *Server) bodies(of dnsmessage.Type, name string) (bodies []dnsmessage.ResourceBody) {
	if of == dnsmessage.TypePTR {
		for _, host := range s.names[name] {
			bodies = append(bodies, &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(host)})
		}
	}
	for _, addr := range s.addrs[name] {
		switch {
		case of == dnsmessage.TypeA && addr.Is4():
			bodies = append(bodies, &dnsmessage.AResource{A: addr.As4()})
		case of == dnsmessage.TypeAAAA && addr.Is6():
			bodies = append(bodies, &dnsmessage.AAAAResource{AAAA: addr.As16()})
		}
	}
	return bodies
}

// reverse is the question for the names of an address.
func reverse(addr netip.Addr) string {
	var b strings.Builder
	bytes := addr.AsSlice()
	for i := len(bytes) - 1; i >= 0; i-- {
		if addr.Is4() {
			b.WriteString(strconv.Itoa(int(bytes[i])) + ".")
			continue
		}
		b.WriteString(strconv.FormatUint(uint64(bytes[i]&15), 16) + "." + strconv.FormatUint(uint64(bytes[i]>>4), 16) + ".")
	}
	if addr.Is4() {
		return b.String() + "in-addr.arpa."
	}
	return b.String() + "ip6.arpa."
}

package mail_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	own "github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
)

// noSuchUser is what a mail server says of an address that is not there.
var noSuchUser = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}

// server is a mail server, and what it has been handed.
type server struct {
	t     testing.TB
	roots *x509.CertPool
	port  int

	mechanism string // PLAIN or LOGIN; "" asks for no authentication
	from      func(address string) error
	rcpt      func(address string) error
	data      func(count int, c *smtp.Conn) error // count is of the mails that were handed to it, from 1
	down      atomic.Bool                         // connections end at once

	connections atomic.Int64

	mu       sync.Mutex
	attempts int
	taken    []letter
}

// letter is a mail as the server took it.
type letter struct {
	attempt    int
	from, to   string
	connection int64 // the number of the connection
	encrypted  bool
	user       string
	header     mail.Header
	text, html string
}

// newServer starts a mail server that speaks TLS in a way.
func newServer(t testing.TB, way own.TLS, change ...func(*server)) *server {
	t.Helper()
	s := &server{
		t: t, roots: x509.NewCertPool(),
		from: func(string) error { return nil }, rcpt: func(string) error { return nil }, data: func(int, *smtp.Conn) error { return nil },
	}
	for _, c := range change {
		c(s)
	}
	certified := httptest.NewTLSServer(nil)
	t.Cleanup(certified.Close)
	s.roots.AddCert(certified.Certificate())
	encryption := &tls.Config{Certificates: certified.TLS.Certificates}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.port = listener.Addr().(*net.TCPAddr).Port
	listener = door{listener, s}
	smtpServer := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return s.session(c), nil }))
	smtpServer.Domain, smtpServer.ErrorLog = "mx.example.com", log.New(io.Discard, "", 0)
	smtpServer.AllowInsecureAuth = way == own.NoTLS
	switch way {
	case own.ImplicitTLS:
		listener = tls.NewListener(listener, encryption)
	case own.StartTLS:
		smtpServer.TLSConfig = encryption
	default:
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = smtpServer.Serve(listener) })
	t.Cleanup(func() { _ = smtpServer.Close(); serving.Wait() })
	return s
}

// door lets connections in unless the server is down.
type door struct {
	net.Listener
	server *server
}

func (d door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !d.server.down.Load() {
			d.server.connections.Add(1)
			return c, nil
		}
		c.Close()
	}
}

// smtp are the settings for the server.
func (s *server) smtp(way own.TLS) own.SMTP {
	return own.SMTP{Host: "127.0.0.1", Port: s.port, TLS: way, RootCAs: s.roots, From: "Acme <hello@acme.example>"}
}

// letters are those that were taken.
func (s *server) letters() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]letter(nil), s.taken...)
}

func (s *server) session(c *smtp.Conn) smtp.Session {
	plain := &session{server: s, conn: c, letter: letter{connection: s.connections.Load()}}
	if s.mechanism == "" {
		return plain
	}
	return &loginSession{plain}
}

// session is what a client does on one connection.
type session struct {
	server *server
	conn   *smtp.Conn
	letter letter
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.mechanism != "" && s.letter.user == "" {
		return smtp.ErrAuthRequired
	}
	_, s.letter.encrypted = s.conn.TLSConnectionState()
	s.letter.from = from
	return s.server.from(from)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.letter.to = to
	return s.server.rcpt(to)
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.letter.read(s.server.t, raw)
	s.server.mu.Lock()
	s.server.attempts++
	s.letter.attempt = s.server.attempts
	s.server.taken = append(s.server.taken, s.letter) // before data, which may break the connection: the next attempt is a later one
	s.server.mu.Unlock()
	err = s.server.data(s.letter.attempt, s.conn)
	if err != nil {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		s.server.taken = slices.DeleteFunc(s.server.taken, func(l letter) bool { return l.attempt == s.letter.attempt })
	}
	return err
}

// read reads a mail of two alternatives.
func (l *letter) read(t testing.TB, raw []byte) {
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if !assert.NoError(t, err) {
		return
	}
	l.header = m.Header
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	assert.NoError(t, err)
	assert.Equal(t, "multipart/alternative", kind)
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, p := range []struct {
		kind string
		into *string
	}{{"text/plain", &l.text}, {"text/html", &l.html}} {
		part, err := parts.NextPart()
		if !assert.NoError(t, err) {
			return
		}
		assert.Equal(t, p.kind+"; charset=UTF-8", part.Header.Get("Content-Type"))
		text, err := io.ReadAll(part)
		assert.NoError(t, err)
		*p.into = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	_, err = parts.NextPart()
	assert.ErrorIs(t, err, io.EOF)
}

// subject is the subject as people read it.
func (l letter) subject(t testing.TB) string {
	t.Helper()
	s, err := new(mime.WordDecoder).DecodeHeader(l.header.Get("Subject"))
	require.NoError(t, err)
	return s
}

// loginSession asks for the name gate and the password secret.
type loginSession struct{ *session }

func (s *loginSession) AuthMechanisms() []string { return []string{s.server.mechanism} }

func (s *loginSession) Auth(string) (sasl.Server, error) {
	check := func(user, password string) error {
		if user != "gate" || password != "secret" {
			return smtp.ErrAuthFailed
		}
		s.letter.user = user
		return nil
	}
	if s.server.mechanism == sasl.Login {
		return &login{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
}

// login is the server's side of AUTH LOGIN.
type login struct {
	answers []string
	asked   bool
	check   func(user, password string) error
}

func (l *login) Next(response []byte) (challenge []byte, done bool, err error) {
	if l.asked {
		l.answers = append(l.answers, string(response))
	}
	l.asked = true
	switch len(l.answers) {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	case 2:
		return nil, true, l.check(l.answers[0], l.answers[1])
	}
	return nil, false, errors.New("too many answers")
}

package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"
)

const (
	// patience is how long a mail server may take to let us in, or for one mail.
	patience = 30 * time.Second
	// parting is how long a mail that is under way may still take when sending is to end.
	parting = 5 * time.Second
)

// TLS says how the connection to a mail server is encrypted.
type TLS string

// The ways, and the ports that go with them.
const (
	StartTLS    TLS = "starttls" // by STARTTLS, which the server has to offer: port 587
	ImplicitTLS TLS = "implicit" // from the beginning: port 465
	NoTLS       TLS = "none"     // not at all: for a server on the same machine, port 25
)

// ports has the port of each way.
var ports = map[TLS]int{StartTLS: 587, ImplicitTLS: 465, NoTLS: 25}

// SMTP says by which mail server mails are sent, and from whom they are.
type SMTP struct {
	Host     string
	Port     int    // 0 is the port that goes with TLS
	Username string // "" is no authentication
	Password string // is not sent over an unencrypted connection to another machine
	TLS      TLS    // "" is StartTLS
	From     string // an address, or a name with an address: Acme <hello@acme.example>; without a name it is the site's
	ReplyTo  string // "" is From

	RootCAs *x509.CertPool // by which the server's certificate is checked; nil is the system's

	// Dial reaches the server where the connection is not encrypted from the beginning; nil for
	// over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`

	patience time.Duration // 0 is patience
}

// Validate reports everything that is wrong, joined.
func (s SMTP) Validate() error {
	var faults []error
	if s.Host == "" {
		faults = append(faults, errors.New("host: the mail server is not named"))
	}
	if s.Port < 0 || s.Port > 65535 {
		faults = append(faults, fmt.Errorf("port: %d is none", s.Port))
	}
	if _, ok := ports[s.way()]; !ok {
		faults = append(faults, fmt.Errorf("tls: %q is none of starttls, implicit, none", s.TLS))
	}
	if s.Password != "" && s.Username == "" {
		faults = append(faults, errors.New("username: there is a password and no name"))
	}
	if _, err := address(s.From); err != nil {
		faults = append(faults, fmt.Errorf("from: %q is not an address such as Acme <hello@acme.example>", s.From))
	}
	if _, err := address(s.ReplyTo); s.ReplyTo != "" && err != nil {
		faults = append(faults, fmt.Errorf("reply_to: %q is not an address", s.ReplyTo))
	}
	return errors.Join(faults...)
}

func (s SMTP) way() TLS { return cmp.Or(s.TLS, StartTLS) }

func (s SMTP) port() int { return cmp.Or(s.Port, ports[s.way()]) }

// address reads an address, with or without a name. Its domain is written in ASCII, which every
// mail server understands.
func address(text string) (*mail.Address, error) {
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	at := strings.LastIndexByte(a.Address, '@')
	domain, err := idna.Lookup.ToASCII(a.Address[at+1:])
	if err != nil {
		return nil, err
	}
	a.Address = a.Address[:at+1] + domain
	return a, nil
}

// connection is a connection to a mail server that has let us in.
type connection struct {
	client *gomail.Client
	conn   net.Conn
	parted func() bool // ends the wait for the end of the context
}

// dial connects and logs in. When ctx ends, what is under way has little time left.
func (s SMTP) dial(ctx context.Context) (*connection, error) {
	c := &connection{parted: func() bool { return true }}
	options := []gomail.Option{
		gomail.WithPort(s.port()), gomail.WithTimeout(cmp.Or(s.patience, patience)), gomail.WithoutNoop(), gomail.WithoutRset(),
		gomail.WithDialContextFunc(c.kept(ctx, s.dialer())),
	}
	switch s.way() {
	case ImplicitTLS:
		options = append(options, gomail.WithSSL())
	case NoTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory), gomail.WithTLSConfig(s.tls()))
	}
	if s.Username != "" {
		options = append(options, gomail.WithUsername(s.Username), gomail.WithPassword(s.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	var err error
	if c.client, err = gomail.NewClient(s.Host, options...); err == nil {
		err = c.client.DialWithContext(ctx)
	}
	if err != nil {
		c.drop()
		return nil, fmt.Errorf("connecting to the mail server %s: %w", net.JoinHostPort(s.Host, strconv.Itoa(s.port())), err)
	}
	return c, nil
}

func (s SMTP) tls() *tls.Config {
	return &tls.Config{ServerName: s.Host, RootCAs: s.RootCAs, MinVersion: tls.VersionTLS12}
}

// dialer returns what makes connections.
func (s SMTP) dialer() gomail.DialContextFunc {
	switch {
	case s.way() == ImplicitTLS:
		return (&tls.Dialer{Config: s.tls()}).DialContext
	case s.Dial != nil:
		return s.Dial
	default:
		return new(net.Dialer).DialContext
	}
}

// kept keeps the connection that dial makes: the library leaves one open that the server has not
// let in. What is under way ends soon after whole.
func (c *connection) kept(whole context.Context, dial gomail.DialContextFunc) gomail.DialContextFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c.conn, c.parted = conn, context.AfterFunc(whole, func() { _ = conn.SetDeadline(time.Now().Add(parting)) })
		return conn, nil
	}
}

// send hands over a mail, and returns what the server has said to it.
func (c *connection) send(msg *gomail.Msg) error {
	err := c.client.Send(msg)
	if msg.IsDelivered() {
		return nil
	}
	return err
}

// quit takes leave of the server.
func (c *connection) quit() {
	_ = c.conn.SetDeadline(time.Now().Add(parting))
	_ = c.client.Close()
	c.drop()
}

// drop closes the connection.
func (c *connection) drop() {
	c.parted()
	if c.conn != nil {
		c.conn.Close()
	}
}

// reply is what a mail server has refused a mail with. It is zero if it has said nothing.
type reply struct {
	code      int    // such as 550
	enhanced  string // such as 5.1.1 (RFC 3463); "" if the server has none
	sender    bool   // to our own address
	recipient bool   // to the recipient's
}

// replyOf finds the reply in an error of connection.send.
func replyOf(err error) reply {
	var e *gomail.SendError
	if !errors.As(err, &e) {
		return reply{}
	}
	return reply{e.ErrorCode(), e.EnhancedStatusCode(), e.Reason == gomail.ErrSMTPMailFrom, e.Reason == gomail.ErrSMTPRcptTo}
}

// lost says that the connection is of no use any more: it is broken, the server ends it, or the
// server is in the middle of a mail that it has refused.
func (r reply) lost() bool { return r.code == 0 || r.code == 421 || r.code == 503 }

// mostRefusals is how often an address may be refused for reasons that may be our own server's,
// such as what it relays. By the schedule of waitlist.List.Failed that is most of a day.
const mostRefusals = 12

// forGood says that the address takes no mail. It goes by RFC 3463: the mailbox or the domain is
// not there, has moved, is not written like one, or is disabled.
func (r reply) forGood(attempts int) bool {
	if !r.recipient || r.code < 500 {
		return false
	}
	switch r.enhanced {
	case "5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1":
		return true
	}
	return attempts >= mostRefusals
}

// Package acme gets certificates from a certificate authority and renews them, by the protocol ACME
// (RFC 8555). The certmagic library of Caddy does it.
//
// The authority asks for proof that a name leads to this gate: by a question to the TLS listener
// (TLS-ALPN-01, RFC 8737), which [Manager.Certificate] answers, or by plain HTTP on port 80
// (HTTP-01), which [Manager.Challenges] answers. Either is enough.
//
// Certificates are kept in a directory. A start takes them from there, and asks the authority only
// for those that are missing or due: so an authority that does not answer stops nothing that is
// served. It is asked again after pauses, for a month.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"
)

// Config says for which names certificates are wanted, and from whom. Domains, Directory and Dir
// are required.
type Config struct {
	// Domains get a certificate each. The first is for clients that name none.
	Domains []string
	// Email is where the authority may write to; "" for nowhere.
	Email string
	// Directory is the URL of the authority's directory. Its terms have been agreed to.
	Directory string
	// Roots are those of the directory's own certificate, in PEM; nil for the system's.
	Roots []byte
	// Dir is where keys and certificates are kept. Gates may share it.
	Dir string
	// HTTPS is the address that the gate listens on for TLS, and HTTP that for plain HTTP, "" for
	// none. Their hosts are the same, or one is all.
	HTTPS, HTTP string
	// Every is how often certificates are looked at: one is renewed when a third of its time is
	// left. 10 minutes by default.
	Every time.Duration
	// Log gets what happens. Nothing by default.
	Log *zap.Logger
}

// Manager keeps certificates. New makes it, and Close ends it.
type Manager struct {
	domains []string
	cache   *certmagic.Cache
	config  *certmagic.Config
	issuer  *certmagic.ACMEIssuer
	ctx     context.Context
	stop    context.CancelFunc
}

// New makes a manager. It asks nobody for anything until Start.
func New(cfg Config) (*Manager, error) {
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	cfg.Log = cfg.Log.Named("acme")
	var roots *x509.CertPool
	if cfg.Roots != nil {
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(cfg.Roots) {
			return nil, errors.New("the roots of the ACME directory hold no certificate")
		}
	}
	m := &Manager{domains: cfg.Domains}
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return m.config, nil },
		RenewCheckInterval: cfg.Every, Logger: cfg.Log,
	})
	m.config = certmagic.New(m.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: cfg.Dir}, DefaultServerName: cfg.Domains[0], Logger: cfg.Log,
	})
	template, err := issuerOf(cfg, roots)
	if err != nil {
		m.Close()
		return nil, err
	}
	m.issuer = certmagic.NewACMEIssuer(m.config, template)
	m.config.Issuers = []certmagic.Issuer{m.issuer}
	return m, nil
}

// issuerOf is what asks the authority. It listens for nothing: the gate does.
func issuerOf(cfg Config, roots *x509.CertPool) (certmagic.ACMEIssuer, error) {
	i := certmagic.ACMEIssuer{
		CA: cfg.Directory, Email: cfg.Email, Agreed: true, TrustedRoots: roots, Logger: cfg.Log, DisableHTTPChallenge: cfg.HTTP == "",
	}
	if cfg.Email == "" {
		i.NewAccountFunc = withoutContact
	}
	host, port, err := hostPort(cfg.HTTPS)
	if err != nil {
		return i, err
	}
	i.ListenHost, i.AltTLSALPNPort = host, port
	if cfg.HTTP != "" {
		if _, i.AltHTTPPort, err = hostPort(cfg.HTTP); err != nil {
			return i, err
		}
	}
	return i, nil
}

// withoutContact makes an account that has no address. Where several names need one at once,
// certmagic may take the name of its own directory for accounts without an address for the address.
func withoutContact(_ context.Context, _ *certmagic.ACMEIssuer, a acme.Account) (acme.Account, error) {
	a.Contact = nil
	return a, nil
}

func hostPort(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil {
		return "", 0, fmt.Errorf("reading the address %q: %w", address, err)
	}
	return host, port, nil
}

// Start takes the certificates from their directory, and gets those that are missing, in the
// background. The gate listens by now.
func (m *Manager) Start() {
	_ = m.config.ManageAsync(m.ctx, m.domains) // which says all that it has to say in the log
}

// Certificate is a [tls.Config]'s GetCertificate. It answers an authority's questions, too. For
// other names than those of the manager, and for those whose certificate is not there yet, it has
// an error.
func (m *Manager) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return m.config.GetCertificate(hello)
}

// Certificates are those in use: of several for one domain, the last to end.
func (m *Manager) Certificates() (list []*x509.Certificate) {
	for _, domain := range m.domains {
		var last *x509.Certificate
		for _, c := range m.cache.AllMatchingCertificates(domain) {
			if last == nil || c.Leaf.NotAfter.After(last.NotAfter) {
				last = c.Leaf
			}
		}
		if last != nil {
			list = append(list, last)
		}
	}
	return list
}

// Challenges answers the authority's questions by plain HTTP, and hands all other requests on.
func (m *Manager) Challenges(next http.Handler) http.Handler {
	return m.issuer.HTTPChallengeHandler(next)
}

// Close ends the manager's work.
func (m *Manager) Close() {
	m.stop()
	m.cache.Stop()
}

package main

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"runtime"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
)

var (
	buildInfo         = metrics.Gauge("fairdoor_build_info", "Always 1; of which version the program is.", "version", "goversion")
	configurationInfo = metrics.Gauge("fairdoor_configuration_info", "Always 1; gates whose rooms and waitlists are configured alike have the same digest.", "digest")
	reloadSuccess     = metrics.Gauge("fairdoor_reload_success", "1 if the configuration was read well when it was last read, and lists of networks when they last changed; 0 if one was refused and the old one stays.")
	configured        = metrics.Gauge("fairdoor_configured_timestamp_seconds", "When the configuration in force was read.")
	certificateEnd    = metrics.Gauge("fairdoor_certificate_end_timestamp_seconds", "When the certificate ends.", "name")
)

// programMetrics is what the program tells Prometheus beside its gate.
type programMetrics struct {
	mu      sync.Mutex
	in      func() []*x509.Certificate // those in use; nil until the listeners are made
	digest  string
	since   time.Time // when the configuration was read
	refused [2]bool   // whether the last one was, by what it came of
}

// What a configuration comes of: all of it is read, or lists of networks that have changed.
const (
	reloads = iota
	renewals
)

// source is what is asked for the metrics.
func (m *programMetrics) source() metrics.Source {
	return metrics.Source{Collect: m.collect, Numbers: []*metrics.Number{buildInfo, configurationInfo, reloadSuccess, configured, certificateEnd}}
}

// inForce takes in that a configuration was put in force, and what it came of: a reload reads the
// lists of networks, too.
func (m *programMetrics) inForce(c *config.Config, of int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.digest, m.refused[renewals] = digest(c), false
	if of == reloads {
		m.since, m.refused[reloads] = time.Now(), false
	}
}

// refuse takes in that a configuration was not put in force, and what it came of.
func (m *programMetrics) refuse(of int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused[of] = true
}

// refuses says whether a configuration that there was last is not in force.
func (m *programMetrics) refuses() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused != [2]bool{}
}

// listed are the certificates in use.
func (m *programMetrics) listed() []*x509.Certificate {
	m.mu.Lock()
	in := m.in
	m.mu.Unlock()
	if in == nil {
		return nil
	}
	return in()
}

// use takes in where the certificates in use are.
func (m *programMetrics) use(in func() []*x509.Certificate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in = in
}

func (m *programMetrics) collect(tell metrics.Tell) {
	certificates, refuses := m.listed(), m.refuses()
	m.mu.Lock()
	defer m.mu.Unlock()
	tell(buildInfo, 1, releaseName(), runtime.Version())
	tell(configurationInfo, 1, m.digest)
	tell(reloadSuccess, metrics.If(!refuses))
	tell(configured, float64(m.since.Unix()))
	for name, end := range endsOf(certificates) {
		tell(certificateEnd, float64(end.Unix()), name)
	}
}

// endsOf are the ends of certificates by the first name of each: of several with one name, the first
// end.
func endsOf(list []*x509.Certificate) map[string]time.Time {
	ends := map[string]time.Time{}
	for _, c := range list {
		name := nameOf(c)
		if first, found := ends[name]; !found || c.NotAfter.Before(first) {
			ends[name] = c.NotAfter
		}
	}
	return ends
}

// nameOf is the first name that a certificate is for.
func nameOf(c *x509.Certificate) string {
	switch {
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	}
	return c.Subject.CommonName
}

// digest tells apart what gates have to be configured alike: their rooms and waitlists.
func digest(c *config.Config) string {
	hash := sha256.New()
	_ = json.NewEncoder(hash).Encode([]any{c.Rooms, c.Waitlists}) // which are of types that can be encoded
	return hex.EncodeToString(hash.Sum(nil)[:6])
}

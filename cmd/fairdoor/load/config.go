package load

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// Config is a crowd and the gate that it goes to.
type Config struct {
	// Crowd says who comes and when, and by Room what the limits and the lengths of sessions
	// are. A limit of 0 is not known. Its nodes, latencies, faults and changes are not used.
	Crowd simulate.Config

	Gate  *url.URL // the page that the crowd wants; at a loopback address, or at a host that consents by Token
	Host  string   // the host of the requests, if it is not Gate's
	Token string   // whose hash a host has that is not this machine: see ConsentPath

	PageView    time.Duration // between two requests of those who are in, ± a half
	Connections int           // at a time; from 1 to 10,000

	Origin     *Origin      // what the origin sees; nil if that is not known
	Gather     func() error // called when the crowd is through, to tell Origin what its log has; nil for nothing
	Thresholds []Threshold

	// Progress, if set, is told now and then how many people are through.
	Progress func(done, total int)
}

// Validate reports all that is out of bounds, joined; each error begins with the name of its
// setting.
func (c *Config) Validate() error {
	known := c.Crowd // limits that are not known cannot be wrong
	known.Room.TotalActiveUsers = max(known.Room.TotalActiveUsers, 1)
	known.Room.NewUsersPerMinute = max(known.Room.NewUsersPerMinute, 1)
	errs := []error{known.Validate(), c.validateGate()}
	if c.PageView < 10*time.Millisecond || c.PageView > time.Hour {
		errs = append(errs, fmt.Errorf("page_view is %v: must be from 10ms to 1h", c.PageView))
	}
	if c.Connections < 1 || c.Connections > 10_000 {
		errs = append(errs, fmt.Errorf("connections is %d: must be from 1 to 10000", c.Connections))
	}
	for _, t := range c.Thresholds {
		if t.metric.origin && c.Origin == nil {
			errs = append(errs, fmt.Errorf("threshold %s needs to know what the origin sees: give --origin-listen or --origin-log", t))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) validateGate() error {
	switch {
	case c.Gate == nil || c.Gate.Scheme != "http" && c.Gate.Scheme != "https" || c.Gate.Hostname() == "",
		c.Token == "" && (c.Gate.Scheme != "http" || !isLoopback(c.Gate.Hostname())):
		return fmt.Errorf("URL %q: %w", c.Gate, errNotHere)
	case c.Token != "" && len(c.Token) < leastToken:
		return errShortToken
	}
	return nil
}

// isLoopback says whether a host's name or address can only be this machine.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// address is where connections to the gate go. Names below localhost are this machine also
// where DNS does not know them.
func (c *Config) address() string {
	host, port := c.Gate.Hostname(), c.Gate.Port()
	if _, err := netip.ParseAddr(host); err != nil && isLoopback(host) {
		host = "localhost"
	}
	return net.JoinHostPort(host, cmp.Or(port, map[string]string{"http": "80", "https": "443"}[c.Gate.Scheme]))
}

// site is the URL of the site that requests are for.
func (c *Config) site() string {
	return c.Gate.Scheme + "://" + cmp.Or(c.Host, c.Gate.Host)
}

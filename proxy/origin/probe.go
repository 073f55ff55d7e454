package origin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
)

// hosts are names under which visitors know the origin. Some origins drop requests for other names:
// they would drop the gate's own probe, too, if it came with the origin's address.
type hosts struct {
	answered atomic.Pointer[string] // of a request that was answered: of the first, and while the origin is watched of the latest
	failed   atomic.Pointer[string] // of the latest request that failed
	wanted   atomic.Pointer[string] // of the latest visitor who waits while the origin fails
}

func remember(at *atomic.Pointer[string], host string) {
	if known := at.Load(); known == nil || *known != host {
		fresh := host // a copy here, so that a known host is not allocated
		at.Store(&fresh)
	}
}

// answered counts an answer to a request.
func (o *Origin) answered(r *http.Request) {
	if o.hosts.answered.Load() == nil || o.breaker.watching.Load() {
		remember(&o.hosts.answered, r.Host)
	}
	o.breaker.answered(r)
}

// Wanted remembers the host that a waiting visitor asks for. While the origin fails, the gate
// probes it with that host.
func (o *Origin) Wanted(host string) {
	if o.Failing() {
		remember(&o.hosts.wanted, host)
	}
}

// candidates are the hosts to probe with, each once.
func (o *Origin) candidates() []string {
	var list []string
	for _, at := range [...]*atomic.Pointer[string]{&o.hosts.answered, &o.hosts.wanted, &o.hosts.failed} {
		if host := at.Load(); host != nil && *host != "" && !slices.Contains(list, *host) {
			list = append(list, *host)
		}
	}
	if own := o.cfg.URL.Host; !slices.Contains(list, own) {
		list = append(list, own)
	}
	return list
}

// probe finds out whether the origin answers; any answer counts. An origin that drops a request may
// not know the host, or may not accept the method. So probe asks for the other hosts, too, and by
// GET.
func (o *Origin) probe(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.cfg.ProbeTimeout)
	defer cancel()
	for _, host := range o.candidates() {
		for _, method := range [...]string{http.MethodHead, http.MethodGet} {
			var dropped bool
			if dropped, err = o.ask(ctx, method, host); err == nil {
				remember(&o.hosts.answered, host)
			}
			if !dropped {
				return err
			}
		}
	}
	return err
}

// ask sends one request of a probe. It was dropped if there was a connection and the origin ended
// it without an answer.
func (o *Origin) ask(ctx context.Context, method, host string) (dropped bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, schemeOf(o.cfg.URL)+"://"+o.cfg.URL.Host+"/", nil)
	if err != nil {
		return false, fmt.Errorf("making a probe: %w", err)
	}
	req.Host = host
	req.Header.Set("User-Agent", "fairdoor")
	resp, err := o.carrier.prober().RoundTrip(req)
	if err != nil {
		return o.blame(req, err).kind == FailureBroken, fmt.Errorf("probing the origin: %w", err)
	}
	return false, resp.Body.Close()
}

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fleet are the processes of a trial.
type fleet struct {
	dir   string // for their files
	parts []*process
}

func (f *fleet) stop() {
	for _, p := range f.parts {
		p.stop()
	}
}

// part starts a part of this program.
func (f *fleet) part(ctx context.Context, collector string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return f.keep(start(ctx, []string{collector}, anAddress, self, args...))
}

func (f *fleet) keep(p *process, err error) (*process, error) {
	if err == nil {
		f.parts = append(f.parts, p)
	}
	return p, err
}

// gate starts a gate with one place in front of the origin, and returns the
// cookie of the visitor who has taken it. With a certificate the gate serves TLS.
func (f *fleet) gate(ctx context.Context, program string, collector []string, origin *process, cert *certificate, queuedStatus int) (p *process, ticket string, err error) {
	args := []string{"serve",
		"--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--state-dir=" + filepath.Join(f.dir, fmt.Sprint("state", len(f.parts))), "--log-format=json",
		"--origin=" + origin.url(), "--total-active-users=1", "--new-users-per-minute=1000", "--session-duration=24h",
		"--refresh-interval=1s", fmt.Sprintf("--queueing-status-code=%d", queuedStatus)}
	if cert != nil {
		args = append(args, "--tls-cert="+cert.cert, "--tls-key="+cert.key)
	}
	p, err = f.keep(start(ctx, collector, logged, program, args...))
	if err != nil {
		return nil, "", err
	}
	p.trust(cert)
	ticket, err = takePlace(ctx, p)
	return p, ticket, err
}

// takePlace takes the gate's one place, and returns the cookie as the visitor's browser has it: the first ticket is for a newcomer, who
// has to show that it comes back, and gets another then.
func takePlace(ctx context.Context, gate *process) (ticket string, err error) {
	for range 5 {
		a, err := ask(ctx, gate, navigation, ticket)
		switch {
		case err != nil:
			return "", fmt.Errorf("taking the gate's one place: %w", err)
		case len(a.Body) != 1<<10:
			return "", fmt.Errorf("taking the gate's one place: answered with %d bytes", len(a.Body))
		case a.ticket() == "" && ticket != "":
			return ticket, nil
		}
		ticket = a.ticket()
	}
	return "", errors.New("taking the gate's one place: the ticket is never settled")
}

const (
	acceptedTitle = "accepted request, 1 KiB from the origin"
	withATicket   = "the gate, with a ticket"
	bareProxyName = "httputil.ReverseProxy, tuned alike"
)

// accepted compares what a visitor who is in costs. One who is not would be
// answered with 503, which the load takes for a failure.
func (c *comparison) accepted(ctx context.Context, f *fleet) ([]*trial, error) {
	origin, err := f.part(ctx, gogc, "origin")
	if err != nil {
		return nil, err
	}
	gate, ticket, err := f.gate(ctx, c.gate, []string{gogc}, origin, nil, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	t := &trial{title: acceptedTitle}
	load := wrk{c.wrk, ticket}.load
	add := func(name string, limit float64, p *process, err error) error {
		t.contenders = append(t.contenders, &contender{name: name, process: p, load: load, limit: limit})
		return err
	}
	tuned, tunedErr := f.part(ctx, gogc, "tuned", "-origin", origin.url())
	bare, bareErr := f.part(ctx, gogc, "bare", "-origin", origin.url())
	err = errors.Join(
		add(withATicket, 0, gate, nil),
		add("the same proxy without a gate", 1.10, tuned, tunedErr),
		add(bareProxyName, 0.80, bare, bareErr))
	if err == nil && c.nginx != "" {
		nginx, nginxErr := f.nginx(ctx, c.nginx, origin)
		err = add("nginx's proxy_pass, one worker", 0, nginx, nginxErr)
	}
	if err == nil && c.haproxy != "" {
		haproxy, haproxyErr := f.haproxy(ctx, c.haproxy, origin)
		err = add("HAProxy, one thread", 0, haproxy, haproxyErr)
	}
	if err != nil || c.caddy == "" {
		return []*trial{t}, err
	}
	caddy, err := f.caddy(ctx, c.caddy, []string{gogc}, origin)
	if err := add("Caddy's reverse_proxy", 0.45, caddy, err); err != nil {
		return nil, err
	}
	asTheyCome, err := c.asTheyCome(ctx, f, origin)
	return []*trial{t, asTheyCome}, err
}

// asTheyCome compares the gate with Caddy, neither of which is told how often to collect garbage.
func (c *comparison) asTheyCome(ctx context.Context, f *fleet, origin *process) (*trial, error) {
	gate, ticket, err := f.gate(ctx, c.gate, nil, origin, nil, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	caddy, err := f.caddy(ctx, c.caddy, nil, origin)
	load := wrk{c.wrk, ticket}.load
	return &trial{title: acceptedTitle + ", both as they come", contenders: []*contender{
		{name: withATicket, process: gate, load: load},
		{name: "Caddy's reverse_proxy", process: caddy, load: load, limit: 0.50},
	}}, err
}

// overTLS compares what a visitor who is in costs over TLS with HTTP/2.
func (c *comparison) overTLS(ctx context.Context, f *fleet) ([]*trial, error) {
	cert, err := newCertificate(f.dir)
	if err != nil {
		return nil, err
	}
	origin, err := f.part(ctx, gogc, "origin")
	if err != nil {
		return nil, err
	}
	gate, ticket, err := f.gate(ctx, c.gate, []string{gogc}, origin, cert, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	bare, err := f.part(ctx, gogc, "bare", "-origin", origin.url(), "-cert", cert.cert, "-key", cert.key)
	if err != nil {
		return nil, err
	}
	bare.trust(cert)
	load := h2load{c.h2load, ticket}.load
	return []*trial{{title: acceptedTitle + ", over TLS with HTTP/2", contenders: []*contender{
		{name: withATicket, process: gate, load: load},
		{name: bareProxyName, process: bare, load: load, limit: 1.05},
	}}}, nil
}

// queued compares what a visitor who waits costs, as a page and as JSON, with
// writing the same bytes.
func (c *comparison) queued(ctx context.Context, f *fleet) ([]*trial, error) {
	origin, err := f.part(ctx, gogc, "origin")
	if err != nil {
		return nil, err
	}
	gate, _, err := f.gate(ctx, c.gate, []string{gogc}, origin, nil, http.StatusOK)
	if err != nil {
		return nil, err
	}
	var trials []*trial
	for _, kind := range []struct {
		title   string
		headers []header
		limit   float64
	}{
		{"queued page", navigation, 1.2},
		{"queued JSON", poll, 1.3},
	} {
		t, err := f.waiting(ctx, gate, kind.headers, kind.limit)
		if err != nil {
			return nil, fmt.Errorf("preparing the %s: %w", kind.title, err)
		}
		t.title = kind.title + ", " + t.title
		trials = append(trials, t)
	}
	return trials, nil
}

// waiting fills the gate's line with a crowd, has a handler copy one of the
// answers, and sends an equal crowd to that.
func (f *fleet) waiting(ctx context.Context, gate *process, headers []header, limit float64) (*trial, error) {
	crowds := [2]*crowd{newCrowd(headers, true), newCrowd(headers, false)}
	if err := crowds[0].seat(ctx, gate); err != nil {
		return nil, err
	}
	a, err := ask(ctx, gate, headers, "")
	if err != nil {
		return nil, err
	}
	plain, err := f.copier(ctx, a, gogc)
	if err != nil {
		return nil, err
	}
	if err := crowds[1].seat(ctx, plain); err != nil {
		return nil, err
	}
	return &trial{
		title: fmt.Sprintf("%d bytes, %d headers, ticket opened, checked in and sealed anew", len(a.Body), len(a.Header)+1),
		contenders: []*contender{
			{name: "the gate, a crowd of waiting visitors", process: gate, load: crowds[0].load},
			{name: "a handler that writes the same bytes", process: plain, load: crowds[1].load, limit: limit},
		},
	}, nil
}

// copier starts a handler that writes the same bytes as the gate.
func (f *fleet) copier(ctx context.Context, a *answer, collector string) (*process, error) {
	file := filepath.Join(f.dir, fmt.Sprintf("answer%d.json", len(f.parts)))
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	return f.part(ctx, collector, "answer", "-file", file)
}

// ask sends one request and returns the answer without its Date, which net/http
// writes itself.
func ask(ctx context.Context, p *process, headers []header, ticket string) (*answer, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url()+target, nil)
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	for _, h := range headers {
		req.Header.Set(h.name, h.value)
	}
	if ticket != "" {
		req.Header.Set("Cookie", siteCookies+"; "+ticket)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: p.roots}}).RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", p.addr, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	resp.Header.Del("Date")
	resp.Header.Del("Connection")
	return &answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// ticket returns the answer's cookie as name=value, or "".
func (a *answer) ticket() string {
	value, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	return value
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
func (f *fleet) part(ctx context.Context, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return f.keep(start(ctx, []string{gogc}, anAddress, self, args...))
}

func (f *fleet) keep(p *process, err error) (*process, error) {
	if err == nil {
		f.parts = append(f.parts, p)
	}
	return p, err
}

// gate starts a gate with one place in front of the origin, and returns the
// cookie of the visitor who has taken it.
func (f *fleet) gate(ctx context.Context, program string, collector []string, origin *process, queuedStatus int) (p *process, ticket string, err error) {
	p, err = f.keep(start(ctx, collector, logged, program, "serve",
		"--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--state-dir="+filepath.Join(f.dir, fmt.Sprint("state", len(f.parts))), "--log-format=json",
		"--origin=http://"+origin.addr, "--total-active-users=1", "--new-users-per-minute=1000", "--session-duration=24h",
		"--refresh-interval=1s", fmt.Sprintf("--queueing-status-code=%d", queuedStatus)))
	if err != nil {
		return nil, "", err
	}
	a, err := ask(ctx, p.addr, navigation, "")
	if err != nil {
		return nil, "", fmt.Errorf("taking the gate's one place: %w", err)
	}
	if len(a.Body) != 1<<10 || a.ticket() == "" {
		return nil, "", fmt.Errorf("taking the gate's one place: answered with %d bytes", len(a.Body))
	}
	return p, a.ticket(), nil
}

// accepted compares what a visitor who is in costs. One who is not would be
// answered with 503, which the load takes for a failure.
func (c *comparison) accepted(ctx context.Context, f *fleet) ([]*trial, error) {
	origin, err := f.part(ctx, "origin")
	if err != nil {
		return nil, err
	}
	gate, ticket, err := f.gate(ctx, c.gate, []string{gogc}, origin, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	const title = "accepted request, 1 KiB from the origin"
	t := &trial{title: title}
	load := wrk{c.wrk, ticket}.load
	add := func(p *process, err error, name string, limit float64, strict bool) error {
		t.contenders = append(t.contenders, &contender{name: name, process: p, load: load, limit: limit, strict: strict})
		return err
	}
	tuned, tunedErr := f.part(ctx, "tuned", "-origin", "http://"+origin.addr)
	bare, bareErr := f.part(ctx, "bare", "-origin", "http://"+origin.addr)
	err = errors.Join(
		add(gate, nil, "the gate, with a ticket", 0, false),
		add(tuned, tunedErr, "the same proxy without a gate", 1.10, false),
		add(bare, bareErr, "httputil.ReverseProxy, tuned alike", 0, false))
	if err != nil || c.caddy == "" {
		return []*trial{t}, err
	}
	same, err := f.caddy(ctx, c.caddy, []string{gogc}, origin)
	if err := add(same, err, "Caddy's reverse_proxy", 0.5, true); err != nil {
		return nil, err
	}
	asItComes, ticket, err := f.gate(ctx, c.gate, nil, origin, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	caddy, err := f.caddy(ctx, c.caddy, nil, origin)
	visitor := wrk{c.wrk, ticket}.load
	return []*trial{t, {title: title + ", both as they come", contenders: []*contender{
		{name: "the gate, with a ticket", process: asItComes, load: visitor},
		{name: "Caddy's reverse_proxy", process: caddy, load: visitor, limit: 0.5, strict: true},
	}}}, err
}

// caddy starts Caddy as a reverse proxy with its defaults, but for the
// collector's setting.
func (f *fleet) caddy(ctx context.Context, program string, collector []string, origin *process) (*process, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // Caddy does not tell which port it got
	if err != nil {
		return nil, fmt.Errorf("looking for a free port: %w", err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, fmt.Errorf("looking for a free port: %w", err)
	}
	file := filepath.Join(f.dir, fmt.Sprintf("Caddyfile%d", len(f.parts)))
	text := fmt.Sprintf("{\n\tadmin off\n\tauto_https off\n\tpersist_config off\n}\nhttp://%s {\n\tbind 127.0.0.1\n\treverse_proxy %s\n}\n", addr, origin.addr)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the Caddyfile: %w", err)
	}
	up := func(line string) (string, bool) { return addr, strings.Contains(line, "serving initial configuration") }
	return f.keep(start(ctx, append([]string{"HOME=" + f.dir}, collector...), up, program, "run", "--config", file, "--adapter", "caddyfile"))
}

// queued compares what a visitor who waits costs, as a page and as JSON, with
// writing the same bytes.
func (c *comparison) queued(ctx context.Context, f *fleet) ([]*trial, error) {
	origin, err := f.part(ctx, "origin")
	if err != nil {
		return nil, err
	}
	gate, _, err := f.gate(ctx, c.gate, []string{gogc}, origin, http.StatusOK)
	if err != nil {
		return nil, err
	}
	var trials []*trial
	for _, kind := range []struct {
		title   string
		headers []header
		limit   float64
	}{
		{"queued page", navigation, 1.6},
		{"queued JSON", poll, 1.8},
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
	if err := crowds[0].seat(ctx, gate.addr); err != nil {
		return nil, err
	}
	a, err := ask(ctx, gate.addr, headers, "")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, fmt.Sprintf("answer%d.json", len(f.parts)))
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	plain, err := f.part(ctx, "answer", "-file", file)
	if err != nil {
		return nil, err
	}
	if err := crowds[1].seat(ctx, plain.addr); err != nil {
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

// ask sends one request and returns the answer without its Date, which net/http
// writes itself.
func ask(ctx context.Context, addr string, headers []header, ticket string) (*answer, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+target, nil)
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	for _, h := range headers {
		req.Header.Set(h.name, h.value)
	}
	if ticket != "" {
		req.Header.Set("Cookie", ticket)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", addr, err)
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

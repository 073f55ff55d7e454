package main

import (
	"context"
	_ "embed" // the others' configurations
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// The reverse proxies of others that the gate is compared with. Each keeps its
// connections to the origin, sends it the headers X-Forwarded-*, and writes no
// log, as the gate does.
var (
	//go:embed others/Caddyfile
	caddyfile string
	//go:embed others/nginx.conf
	nginxConf string
	//go:embed others/haproxy.cfg
	haproxyCfg string
)

const (
	acceptedTitle = "accepted request, 1 KiB from the origin"
	withATicket   = "the gate, with a ticket"
	bareProxyName = "httputil.ReverseProxy, tuned alike"
)

// placed starts an origin and a gate with one place in front of it, and returns the
// cookie of the visitor who has taken it.
func (c *comparison) placed(ctx context.Context, f *fleet, env []string, secure bool, queuedStatus int) (origin, gate *process, ticket string, err error) {
	if origin, err = f.part(ctx, nil, "origin"); err != nil {
		return nil, nil, "", err
	}
	s := f.gate(c.gate, origin, secure, "--total-active-users=1", "--new-users-per-minute=1000", "--refresh-interval=1s", fmt.Sprint("--queueing-status-code=", queuedStatus))
	s.env = env
	if gate, err = f.start(ctx, s); err != nil {
		return nil, nil, "", err
	}
	ticket, err = takePlace(ctx, gate)
	return origin, gate, ticket, err
}

// takePlace takes the gate's one place, and returns the cookie as the visitor's browser has it: the
// first ticket is for a newcomer, who has to show that it comes back, and gets another then.
func takePlace(ctx context.Context, gate *process) (ticket string, err error) {
	for range 5 {
		a, err := gate.visitOnce(ctx, navigation, ticket)
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

// accepted compares what a visitor who is in costs. One who is not would be
// answered with 503, which the load takes for a failure.
func (c *comparison) accepted(ctx context.Context, f *fleet) ([]*trial, error) {
	origin, gate, ticket, err := c.placed(ctx, f, []string{gogc}, false, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	tuned, tunedErr := f.part(ctx, origin, "tuned", "-to", origin.url())
	bare, bareErr := f.part(ctx, origin, "bare", "-to", origin.url())
	nginx, nginxErr := f.start(ctx, server{origin: origin, configuration: nginxConf, command: []string{"nginx", "-e", "stderr", "-p", "DIRECTORY", "-c", "DIRECTORY/configuration"}})
	haproxy, haproxyErr := f.start(ctx, server{origin: origin, configuration: haproxyCfg, command: []string{"haproxy", "-db", "-f", "DIRECTORY/configuration"}})
	if err := errors.Join(tunedErr, bareErr, nginxErr, haproxyErr); err != nil {
		return nil, err
	}
	load := one(ticket, false)
	t := &trial{title: acceptedTitle, contenders: []*contender{
		{name: withATicket, process: gate, load: load},
		{name: "the same proxy without a gate", process: tuned, load: load, limit: 1.10},
		{name: bareProxyName, process: bare, load: load, limit: 0.80},
		{name: "nginx's proxy_pass, one worker", process: nginx, load: load},
		{name: "HAProxy, one thread", process: haproxy, load: load},
	}}
	if c.caddy == "" {
		return []*trial{t}, nil
	}
	caddy := server{origin: origin, configuration: caddyfile, env: []string{"HOME=DIRECTORY", gogc},
		command: []string{c.caddy, "run", "--config", "DIRECTORY/configuration", "--adapter", "caddyfile"}}
	alike, err := f.start(ctx, caddy)
	if err != nil {
		return nil, err
	}
	t.contenders = append(t.contenders, &contender{name: "Caddy's reverse_proxy", process: alike, load: load, limit: 0.45})
	_, gate, ticket, err = c.placed(ctx, f, nil, false, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	caddy.env = caddy.env[:1]
	asItComes, err := f.start(ctx, caddy)
	load = one(ticket, false)
	return []*trial{t, {title: acceptedTitle + ", both as they come", contenders: []*contender{
		{name: withATicket, process: gate, load: load},
		{name: "Caddy's reverse_proxy", process: asItComes, load: load, limit: 0.50},
	}}}, err
}

// overTLS compares what a visitor who is in costs over TLS with HTTP/2.
func (c *comparison) overTLS(ctx context.Context, f *fleet) ([]*trial, error) {
	origin, gate, ticket, err := c.placed(ctx, f, []string{gogc}, true, http.StatusServiceUnavailable)
	if err != nil {
		return nil, err
	}
	bare, err := f.part(ctx, origin, "bare", "-to", origin.url(), "-cert", f.cert, "-key", f.key)
	if err != nil {
		return nil, err
	}
	bare.secure = true
	load := one(ticket, true)
	return []*trial{{title: acceptedTitle + ", over TLS with HTTP/2", contenders: []*contender{
		{name: withATicket, process: gate, load: load},
		{name: bareProxyName, process: bare, load: load, limit: 1.05},
	}}}, nil
}

// queued compares what a visitor who waits costs, as a page and as JSON, with opening and sealing
// their ticket and writing the same bytes.
func (c *comparison) queued(ctx context.Context, f *fleet) ([]*trial, error) {
	_, gate, _, err := c.placed(ctx, f, []string{gogc}, false, http.StatusOK)
	if err != nil {
		return nil, err
	}
	page, pageErr := f.waiting(ctx, gate, "queued page", navigation)
	polled, polledErr := f.waiting(ctx, gate, "queued JSON", poll)
	return []*trial{page, polled}, errors.Join(pageErr, polledErr)
}

// waiting fills the gate's line with a crowd, has a handler answer as the gate does, and sends an
// equal crowd to that.
func (f *fleet) waiting(ctx context.Context, gate *process, title string, header http.Header) (*trial, error) {
	crowds := [2]*crowd{newCrowd(header), newCrowd(header)}
	if err := crowds[0].seat(ctx, gate); err != nil {
		return nil, err
	}
	a, err := gate.visitOnce(ctx, header, "")
	if err != nil {
		return nil, err
	}
	for _, own := range []string{"Date", "Connection"} { // net/http writes them itself
		a.Header.Del(own)
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, title)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	plain, err := f.part(ctx, nil, "answer", "-file", file)
	if err != nil {
		return nil, err
	}
	return &trial{
		title: fmt.Sprintf("%s, %d bytes, %d headers, ticket opened, checked in and sealed anew", title, len(a.Body), len(a.Header)+1),
		contenders: []*contender{
			{name: "the gate, a crowd of waiting visitors", process: gate, load: crowds[0].load},
			{name: "a handler that opens and seals the same ticket, and writes the same bytes", process: plain, load: crowds[1].load, limit: 1.15},
		},
	}, crowds[1].seat(ctx, plain)
}

var h2Statuses = regexp.MustCompile(`(?s)Application protocol: (\S+)\n.*\nstatus codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx`)

// one is a load of one visitor, by h2load: requests are under way on so many connections, by
// HTTP/1.1 one at a time and by HTTP/2 eight on each. Its time is in whole seconds. Answers that
// are not 2xx are an error.
func one(ticket string, http2 bool) load {
	protocol, how := "http/1.1", []string{"--h1", fmt.Sprint("-c", connections)}
	if http2 {
		protocol, how = "h2", []string{fmt.Sprint("-c", connections/8), "-m8"}
	}
	for name, values := range navigation {
		how = append(how, "-H", name+": "+values[0])
	}
	how = append(how, "-H", "Cookie: "+cookies(ticket), "-t1")
	return func(ctx context.Context, p *process, span time.Duration) (int, error) {
		said, err := exec.CommandContext(ctx, "h2load", append(how[:len(how):len(how)], fmt.Sprint("-D", int(span.Seconds())), p.url()+target)...).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("running h2load: %w: %s", err, said)
		}
		found := h2Statuses.FindSubmatch(said)
		if len(found) == 0 || string(found[1]) != protocol {
			return 0, fmt.Errorf("asking %s by %s: h2load says: %s", p.addr, protocol, said)
		}
		return strconv.Atoi(string(found[2]))
	}
}

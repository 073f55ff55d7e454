package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// navigation is what a browser sends when somebody opens a page.
var navigation = http.Header{
	"User-Agent":                {chrome},
	"Accept":                    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"},
	"Accept-Language":           {"en-GB,en;q=0.9,de;q=0.8"},
	"Accept-Encoding":           {"gzip, deflate, br, zstd"},
	"Sec-Ch-Ua":                 {`"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"`},
	"Sec-Ch-Ua-Mobile":          {"?0"},
	"Sec-Ch-Ua-Platform":        {`"Linux"`},
	"Sec-Fetch-Dest":            {"document"},
	"Sec-Fetch-Mode":            {"navigate"},
	"Sec-Fetch-Site":            {"none"},
	"Sec-Fetch-User":            {"?1"},
	"Upgrade-Insecure-Requests": {"1"},
	"Cache-Control":             {"max-age=0"},
}

// poll is what the waiting page's script sends.
var poll = http.Header{
	"User-Agent":         {chrome},
	"Accept":             {"application/json"},
	"Accept-Language":    {"en-GB,en;q=0.9,de;q=0.8"},
	"Accept-Encoding":    {"gzip, deflate, br, zstd"},
	"Sec-Ch-Ua":          {`"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"`},
	"Sec-Ch-Ua-Mobile":   {"?0"},
	"Sec-Ch-Ua-Platform": {`"Linux"`},
	"Sec-Fetch-Dest":     {"empty"},
	"Sec-Fetch-Mode":     {"cors"},
	"Sec-Fetch-Site":     {"same-origin"},
	"Referer":            {"https://shop.example.com/sale/shoes?size=42"},
	"Cache-Control":      {"no-cache"},
}

const (
	chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	target = "/sale/shoes?size=42" // what is asked for

	// siteCookies are the origin's own, which a browser sends before ours.
	siteCookies = "consent=all; basket=0f3c9a1e77d24b5c; theme=dark"
)

// url returns the address of the server's root, without the slash.
func (p *process) url() string {
	if p.secure {
		return "https://" + p.addr
	}
	return "http://" + p.addr
}

// connection is one to a server.
type connection interface {
	http.RoundTripper
	io.Closer
	Err() error // why it takes no more requests; nil if it does
}

// connect opens a connection to the server from an address of the loopback, or from any with nil.
func (p *process) connect(ctx context.Context, from net.IP, http2 bool) (connection, error) {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return c, c.(*net.TCPConn).SetLinger(0) // closed with a reset, the port is free at once
	}
	trusting := &tls.Config{InsecureSkipVerify: true}
	if http2 {
		protocols := new(http.Protocols)
		protocols.SetHTTP2(true)
		t := &http.Transport{DialContext: dial, TLSClientConfig: trusting, Protocols: protocols, ResponseHeaderTimeout: answersWithin, DisableCompression: true}
		c, err := t.NewClientConn(ctx, "https", p.addr)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c, err := dial(ctx, "tcp", p.addr)
	if err != nil {
		return nil, err
	}
	if p.secure {
		c = tls.Client(c, trusting)
	}
	return &plain{Conn: c, in: bufio.NewReaderSize(c, 1<<10)}, nil
}

// answersWithin is how long a server may take to begin its answer.
const answersWithin = 30 * time.Second

// plain is a connection by HTTP/1.1. That of http.Transport takes three goroutines, and may end
// after an answer though the server keeps it.
type plain struct {
	net.Conn
	in  *bufio.Reader
	err error
}

// Err returns why the connection takes no more requests.
func (c *plain) Err() error { return c.err }

// RoundTrip sends a request, once the answer to the one before was read to its end.
func (c *plain) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	defer func() { c.err = err }()
	if err := c.SetDeadline(time.Now().Add(answersWithin)); err != nil {
		return nil, err
	}
	if err := req.Write(c); err != nil {
		return nil, err
	}
	if resp, err = http.ReadResponse(c.in, req); err != nil {
		return nil, err
	}
	return resp, c.SetDeadline(time.Time{})
}

// answer is an answer that was read to its end.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// send sends a request with a ticket, as name=value, or "" for none.
func (p *process) send(ctx context.Context, over connection, path string, header http.Header, ticket string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url()+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Cookie", cookies(ticket))
	return over.RoundTrip(req)
}

// cookies is what a browser with a ticket sends.
func cookies(ticket string) string {
	if ticket == "" {
		return siteCookies
	}
	return siteCookies + "; " + ticket
}

// ask is send, and reads the answer.
func (p *process) ask(ctx context.Context, over connection, path string, header http.Header, ticket string) (*answer, error) {
	resp, err := p.send(ctx, over, path, header, ticket)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return &answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, err
}

// visit asks for the page, and takes every status but 200 for a failure.
func (p *process) visit(ctx context.Context, over connection, header http.Header, ticket string) (*answer, error) {
	a, err := p.ask(ctx, over, target, header, ticket)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("answered with status %d", a.Status)
	}
	return a, err
}

// visitOnce is visit over a connection of its own.
func (p *process) visitOnce(ctx context.Context, header http.Header, ticket string) (*answer, error) {
	c, err := p.connect(ctx, nil, false)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", p.addr, err)
	}
	defer c.Close()
	return p.visit(ctx, c, header, ticket)
}

// ticket returns the answer's cookie as name=value, or "".
func (a *answer) ticket() string {
	value, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	return value
}

// retryAfter is when somebody who waits is to ask again.
func (a *answer) retryAfter() (time.Duration, error) {
	d, err := time.ParseDuration(a.Header.Get("Retry-After") + "s")
	if err != nil || a.ticket() == "" {
		return 0, errors.New("an answer brought no ticket or no Retry-After: nobody has checked in")
	}
	return d, nil
}

// pause waits for d.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

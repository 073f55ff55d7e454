package origin

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"
)

// A connection of HTTP/2 carries many requests: on one that is silent for pingAfter the origin is
// asked whether it is there, and without an answer within pingTimeout all of them fail.
const (
	pingAfter   = 15 * time.Second
	pingTimeout = 5 * time.Second
)

// newTwo makes what carries requests by HTTP/2, as plain does by HTTP/1.1. net/http frames the
// answers itself: nothing that an origin sends unasked is taken for one.
func newTwo(cfg Config, plain *http.Transport) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(cfg.URL.Scheme == schemeTwo)
	protocols.SetUnencryptedHTTP2(cfg.URL.Scheme == schemeTwoPlain)
	secure := cfg.TLS.Clone()
	secure.NextProtos = nil // of the protocols
	secure.VerifyConnection = speaksTwo(secure.VerifyConnection)
	dialer := &net.Dialer{Timeout: cfg.DialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        secure,
		TLSHandshakeTimeout:    cfg.DialTimeout,
		IdleConnTimeout:        plain.IdleConnTimeout,
		ResponseHeaderTimeout:  plain.ResponseHeaderTimeout,
		ExpectContinueTimeout:  plain.ExpectContinueTimeout,
		MaxResponseHeaderBytes: plain.MaxResponseHeaderBytes,
		DisableCompression:     true,
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}

var errNotTwo = errors.New("the origin does not speak HTTP/2 over TLS: its address is one of https")

// speaksTwo returns a check of connections that refuses those on which the origin has not agreed to
// HTTP/2: net/http would go on by HTTP/1.1. The check that there is already, nil for none, goes
// before it.
func speaksTwo(before func(tls.ConnectionState) error) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if before != nil {
			if err := before(state); err != nil {
				return err
			}
		}
		if state.NegotiatedProtocol != "h2" {
			return errNotTwo
		}
		return nil
	}
}

// prober carries the gate's own probes.
func (c *carrier) prober() http.RoundTripper {
	if c.two != nil {
		return c.two
	}
	return c.single
}

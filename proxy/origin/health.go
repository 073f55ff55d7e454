package origin

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// GRPCHealth is the health path of an origin that speaks gRPC: it is called as
// https://github.com/grpc/grpc/blob/master/doc/health-checking.md says.
const GRPCHealth = "/grpc.health.v1.Health/Check"

// Health is what an origin is asked for to know that it is well.
type Health struct {
	// Path is asked for by GET; of an origin of HTTP/2 it may be GRPCHealth. "" for none.
	Path string
	// Host is the Host of these requests, "" for the host and port of the origin's address. It is
	// never one that a visitor sent: what the origin says of itself is not theirs to choose.
	Host string
}

// HealthTimeout is how long the answer of a health path may take.
const HealthTimeout = 2 * time.Second

// CheckHealthPath says what is wrong with a health path, "" for nothing; it continues a sentence
// that begins with the path. "" is for none.
func CheckHealthPath(path string) string {
	if path != "" && !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || !isPrintable(path, 0x7e) || strings.Contains(path, "#") {
		return "is no path such as /healthz, with or without a query"
	}
	return ""
}

// The messages of gRPC's health check: the question for the server as a whole, and the answer that
// it serves, each with the five bytes before a message.
var (
	whetherServing = []byte{0, 0, 0, 0, 0}
	serving        = []byte{0, 0, 0, 0, 2, 8, 1}
)

// askHealth asks for the health path once.
func (o *Origin) askHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, HealthTimeout)
	defer cancel()
	path := o.cfg.Health.Path
	method, body, calls := http.MethodGet, []byte(nil), path == GRPCHealth
	if calls {
		method, body = http.MethodPost, whetherServing
	}
	req, err := http.NewRequestWithContext(ctx, method, schemeOf(o.cfg.URL)+"://"+o.cfg.URL.Host+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making a health check: %w", err)
	}
	req.Host = cmp.Or(o.cfg.Health.Host, o.cfg.URL.Host)
	req.Header.Set("User-Agent", "fairdoor")
	if calls {
		req.Header.Set("Content-Type", "application/grpc")
		req.Header.Set("Te", "trailers")
	}
	resp, err := o.carrier.prober().RoundTrip(req)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxHealth))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode >= 400:
		return fmt.Errorf("%s is answered with the status %d", path, resp.StatusCode)
	case calls && (err != nil || !bytes.Equal(answer, serving)):
		return fmt.Errorf("%s does not say that it serves", path)
	}
	return nil
}

// maxHealth is how much is read of an answer to a health check, in bytes.
const maxHealth = 4 << 10

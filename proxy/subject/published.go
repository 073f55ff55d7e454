package subject

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

const (
	publishedEvery   = 15 * time.Minute // the keys are asked for anew
	publishedBudget  = 3 * time.Second  // that their publisher has to answer
	maxPublished     = 256 << 10        // bytes that are read
	unknownKeysEvery = time.Minute      // they are asked for besides, because a token names a key that is not known
)

// Published are the public keys that those who sign tokens publish at an address as a JSON Web Key
// Set (RFC 7517). It is made by OpenPublished.
type Published struct {
	keys   keyfunc.Keyfunc
	client *http.Client
	stop   context.CancelFunc
}

// OpenPublished returns the keys that are published at an address. They are fetched now and then in
// the background, and once a minute at most when a token names a key that is not known; the request
// that brings it waits for them. While they cannot be fetched, the last ones count, and onError is
// told. Close ends it.
func OpenPublished(ctx context.Context, address string, onError func(error)) (*Published, error) {
	ctx, stop := context.WithCancel(ctx)
	p := &Published{stop: stop, client: &http.Client{
		Transport:     bounded{&http.Transport{TLSHandshakeTimeout: publishedBudget, IdleConnTimeout: publishedBudget, ForceAttemptHTTP2: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	var err error
	p.keys, err = keyfunc.NewDefaultOverrideCtx(ctx, []string{address}, keyfunc.Override{
		Client: p.client, HTTPTimeout: publishedBudget, RefreshInterval: publishedEvery,
		RateLimitWaitMax: publishedBudget, RefreshUnknownKID: rate.NewLimiter(rate.Every(unknownKeysEvery), 1),
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(_ context.Context, err error) { onError(err) }
		},
	})
	if err != nil {
		stop()
		return nil, fmt.Errorf("reading the address of published keys: %w", err)
	}
	return p, nil
}

// Close ends the fetching.
func (p *Published) Close() {
	p.stop()
	p.client.CloseIdleConnections()
}

// key returns the key that a token names, if it is for the token's algorithm.
func (p *Published) key(token *jwt.Token) (jwt.VerificationKey, error) {
	key, err := p.keys.Keyfunc(token)
	if err != nil {
		return nil, fmt.Errorf("finding the key: %w", err)
	}
	switch algorithm, err := Algorithm(key); {
	case err != nil:
		return nil, err
	case algorithm != token.Method.Alg():
		return nil, errors.New("the key is for another algorithm")
	}
	return key, nil
}

// Ed25519 returns the keys for Ed25519 that were fetched last. It does not wait.
func (p *Published) Ed25519() []ed25519.PublicKey {
	all, err := p.keys.Storage().KeyReadAll(context.Background())
	if err != nil {
		return nil // those of an address are in memory, which does not fail
	}
	var keys []ed25519.PublicKey
	for i := range all {
		if key, ok := all[i].Key().(ed25519.PublicKey); ok && len(key) == ed25519.PublicKeySize {
			keys = append(keys, key)
		}
	}
	return keys
}

// bounded is a transport that reads no more than maxPublished of an answer.
type bounded struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxPublished), resp.Body}
	return resp, nil
}

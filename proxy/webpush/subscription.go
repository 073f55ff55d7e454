package webpush

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
)

const (
	// MaxSubscription is how long a subscription may be as JSON, in bytes.
	MaxSubscription = 4 << 10

	authLen = 16
)

// Subscription is where a browser is reached: what its PushManager tells the page, as JSON.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		P256dh string `json:"p256dh"` // the browser's public key
		Auth   string `json:"auth"`
	} `json:"keys"`
}

// Parse reads a subscription. Its endpoint has to be on one of the hosts, at the port of https or
// one of the list.
func Parse(src []byte, hosts outbound.Hosts) (Subscription, error) {
	var s Subscription
	if err := json.NewDecoder(bytes.NewReader(src)).Decode(&s); err != nil {
		return s, fmt.Errorf("reading a subscription: %w", err)
	}
	u, err := url.Parse(s.Endpoint)
	if err == nil {
		err = hosts.CheckStranger(u)
	}
	if err != nil {
		return s, fmt.Errorf("reading the endpoint: %w", err)
	}
	_, _, err = s.secrets()
	return s, err
}

// secrets are the browser's public key, and what it authenticates messages with.
func (s *Subscription) secrets() (*ecdh.PublicKey, []byte, error) {
	point, err := decode(s.Keys.P256dh)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the public key: %w", err)
	}
	key, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the public key: %w", err)
	}
	auth, err := decode(s.Keys.Auth)
	if err == nil && len(auth) != authLen {
		err = errors.New("it is not 16 bytes long")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the authentication secret: %w", err)
	}
	return key, auth, nil
}

// decode reads base64 for URLs, with padding or without.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// Service names the push service of the endpoint, among those of the hosts.
func (s *Subscription) Service(hosts outbound.Hosts) string {
	u, err := url.Parse(s.Endpoint)
	if err != nil { // which Parse has refused
		return ""
	}
	return hosts.Together(u)
}

// origin is the scheme and host of the endpoint.
func (s *Subscription) origin() string {
	u, err := url.Parse(s.Endpoint)
	if err != nil { // which Parse has refused
		return ""
	}
	return u.Scheme + "://" + u.Host
}

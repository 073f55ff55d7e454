// Package webpushtest has a push service for tests, which does what a service and a browser do: it
// checks who sends, and decrypts.
package webpushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// Service is a push service. It is made by New or At.
type Service struct {
	URL string // without a path

	t        testing.TB
	clock    func() time.Time
	mu       sync.Mutex
	browsers map[string]*Browser
	status   int
}

// Browser is somebody who has subscribed.
type Browser struct {
	Subscription string // as JSON

	endpoint string
	service  *Service
	private  *ecdh.PrivateKey
	auth     []byte
	messages []Message
}

// Message is what a browser has got.
type Message struct {
	Header http.Header
	Text   string
	Claims jwt.MapClaims // of the sender
	Key    string        // the sender's
}

// New returns a service that goes by the clock.
func New(t testing.TB, clock func() time.Time) *Service {
	t.Helper()
	s := At(t, "", clock)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	s.URL = "http://localhost:" + port
	return s
}

// At returns a service at an address at which somebody else takes requests for it.
func At(t testing.TB, url string, clock func() time.Time) *Service {
	t.Helper()
	return &Service{URL: url, t: t, clock: clock, browsers: map[string]*Browser{}}
}

// Subscribe returns a new browser.
func (s *Service) Subscribe() *Browser {
	s.t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(s.t, err)
	path := "/push/" + rand.Text()
	b := &Browser{endpoint: s.URL + path, service: s, private: private, auth: make([]byte, 16)}
	_, _ = rand.Read(b.auth)
	text, err := json.Marshal(map[string]any{"endpoint": b.endpoint, "expirationTime": nil, "keys": map[string]string{
		"p256dh": encode(private.PublicKey().Bytes()), "auth": encode(b.auth)}})
	require.NoError(s.t, err)
	b.Subscription = string(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.browsers[path] = b
	return b
}

// Answer has the service answer with a status from now on, instead of taking messages; 0 ends that.
func (s *Service) Answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Endpoint is where the browser is reached.
func (b *Browser) Endpoint() string { return b.endpoint }

// Messages are what the browser has got.
func (b *Browser) Messages() []Message {
	b.service.mu.Lock()
	defer b.service.mu.Unlock()
	return append([]Message(nil), b.messages...)
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.browsers[r.URL.Path]
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
		return
	case b == nil:
		w.WriteHeader(http.StatusGone)
		return
	}
	body, err := io.ReadAll(r.Body)
	m := Message{Header: r.Header}
	if err == nil {
		err = s.authorize(r, &m)
	}
	if err == nil {
		m.Text, err = b.decrypt(body)
	}
	if err != nil {
		s.t.Errorf("push service: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.messages = append(b.messages, m)
	w.WriteHeader(http.StatusCreated)
}

// authorize is RFC 8292, 4.2.
func (s *Service) authorize(r *http.Request, m *Message) error {
	token, key, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "vapid t="), ", k=")
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	m.Key, m.Claims = key, jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(s.URL), jwt.WithExpirationRequired(), jwt.WithTimeFunc(s.clock))
	if _, err = parser.ParseWithClaims(token, m.Claims, func(*jwt.Token) (any, error) { return public, nil }); err != nil {
		return err
	}
	if expires, _ := m.Claims.GetExpirationTime(); expires.Sub(s.clock()) > 24*time.Hour {
		return fmt.Errorf("the token lasts until %v", expires)
	}
	return nil
}

// decrypt is RFC 8291, 3.4, as the browser does it.
func (b *Browser) decrypt(body []byte) (string, error) {
	if len(body) < 86 || body[20] != 65 {
		return "", fmt.Errorf("a message of %d bytes", len(body))
	}
	salt, point, sealed := body[:16], body[21:86], body[86:]
	sender, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return "", err
	}
	shared, err := b.private.ECDH(sender)
	if err != nil {
		return "", err
	}
	secret, err := hkdf.Key(sha256.New, shared, b.auth, "WebPush: info\x00"+string(b.private.PublicKey().Bytes())+string(point), 32)
	if err != nil {
		return "", err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return "", err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return "", err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	open, err := cipher.NewGCM(block)
	if err != nil {
		return "", err
	}
	text, err := open.Open(nil, nonce, sealed, nil)
	return strings.TrimSuffix(string(text), "\x02"), err
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

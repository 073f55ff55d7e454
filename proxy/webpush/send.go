package webpush

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
)

const (
	// patience is how long a push service may take to answer: they do within a second.
	patience = 3 * time.Second
	// maxAnswer is how much of an answer is read, so that its connection can be used again.
	maxAnswer = 64 << 10
)

// Services are the hosts of the push services that the known browsers use.
func Services() outbound.Hosts {
	hosts, _ := outbound.ParseHosts([]string{"fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "*.notify.windows.com"})
	return hosts
}

// What a push service refuses a message for.
var (
	ErrGone    = errors.New("the subscription has ended")
	ErrRefused = errors.New("the push service refused the message")
)

// Message is what is sent.
type Message struct {
	Body  []byte
	TTL   time.Duration // for which the service keeps it for a browser that is not there
	Topic string        // a message replaces one of the same topic that the browser has not got yet: at most 32 letters and digits
}

// Sender sends messages. Its methods may be called at the same time.
type Sender struct {
	Hosts outbound.Hosts // that push services may be at
	Clock func() time.Time
}

// Send sends a message in the name of a site. The error is ErrGone or ErrRefused if it is of no use
// to send it again. Else the service may have said after how long it wants to be asked again.
func (s *Sender) Send(ctx context.Context, to *Subscription, m Message, key Key, site string) (wait time.Duration, err error) {
	u, err := url.Parse(to.Endpoint)
	if err == nil {
		err = s.Hosts.CheckStranger(u)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	q, err := s.request(ctx, to, &m, key, site)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	client := s.Hosts.Client(nil, u.Hostname())
	defer client.CloseIdleConnections()
	answer, err := client.Do(q)
	if err != nil {
		return 0, fmt.Errorf("asking a push service: %w", errors.Unwrap(err)) // without the URL, which is secret
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return verdictOf(answer)
}

// request is that of a message.
func (s *Sender) request(ctx context.Context, to *Subscription, m *Message, key Key, site string) (*http.Request, error) {
	body, err := to.Encrypt(m.Body)
	if err != nil {
		return nil, err
	}
	authorization, err := key.authorize(to.origin(), site, s.Clock())
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Authorization": authorization, "Content-Encoding": "aes128gcm", "Content-Type": "application/octet-stream", "User-Agent": "Fairdoor",
		"TTL": strconv.Itoa(int(max(m.TTL, 0) / time.Second)), "Urgency": "high", "Topic": m.Topic,
	} {
		q.Header.Set(name, value)
	}
	return q, nil
}

// verdictOf is what an answer means.
func verdictOf(answer *http.Response) (wait time.Duration, err error) {
	switch status := answer.StatusCode; {
	case status/100 == 2:
		return 0, nil
	case status == http.StatusNotFound || status == http.StatusGone:
		return 0, ErrGone
	case status/100 == 5 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, fmt.Errorf("the push service answered %d", status)
	default:
		return 0, fmt.Errorf("%w: it answered %d", ErrRefused, status)
	}
}

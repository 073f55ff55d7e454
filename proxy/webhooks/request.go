package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// patience is how long a receiver may take to answer.
	patience = 10 * time.Second
	// maxAnswer is how much of an answer is read, so that its connection can be used again.
	maxAnswer = 64 << 10

	secretPrefix = "whsec_"
	leastSecret  = 24
	mostSecret   = 64
)

var (
	// errGone is a receiver's answer that it wants no more deliveries.
	errGone = errors.New("the receiver answered 410, and is told of nothing more")
	// errRefused is a receiver's answer that this delivery is wrong, and will hardly be better at
	// its next try.
	errRefused = errors.New("the receiver refused the delivery")
)

// ParseSecret reads a secret as Standard Webhooks writes it: whsec_ and 24 to 64 bytes in base64.
func ParseSecret(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) < leastSecret || len(secret) > mostSecret {
		return nil, fmt.Errorf("a secret is %s with %d to %d random bytes in base64 behind it", secretPrefix, leastSecret, mostSecret)
	}
	return secret, nil
}

// sign is the signature of a delivery: of its id, the time and the body.
func sign(secret []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// post sends a delivery. If it was not taken, the receiver may have said after how long it wants to
// be asked again.
func (h *Hook) post(ctx context.Context, client *http.Client, d *delivery, now time.Time) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL.String(), bytes.NewReader(d.Body))
	if err != nil {
		return 0, fmt.Errorf("making the request: %w", err)
	}
	at := strconv.FormatInt(now.Unix(), 10)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("User-Agent", "Fairdoor")
	q.Header.Set("webhook-id", d.ID)
	q.Header.Set("webhook-timestamp", at)
	q.Header.Set("webhook-signature", sign(h.Secret, d.ID, at, d.Body))
	answer, err := client.Do(q)
	if err != nil {
		return 0, fmt.Errorf("asking the receiver: %w", withoutURL(err))
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	switch {
	case answer.StatusCode/100 == 2:
		return 0, nil
	case answer.StatusCode == http.StatusGone:
		return 0, errGone
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	err = fmt.Errorf("the receiver answered %d", answer.StatusCode)
	if refuses(answer.StatusCode) {
		err = fmt.Errorf("%w: it answered %d", errRefused, answer.StatusCode)
	}
	return time.Duration(max(seconds, 0)) * time.Second, err
}

// refuses says whether an answer finds fault with the request, and not with its time.
func refuses(status int) bool {
	return status/100 == 4 && status != http.StatusRequestTimeout && status != http.StatusTooEarly && status != http.StatusTooManyRequests
}

// withoutURL is an error of a client without the URL, which may be secret.
func withoutURL(err error) error {
	var of interface{ Unwrap() error }
	if errors.As(err, &of) && of.Unwrap() != nil {
		return of.Unwrap()
	}
	return err
}

package challenge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	budget       = 3 * time.Second             // that a provider has to verify an answer
	maxVerifying = 64                          // answers at a time,
	maxOfNetwork = 8                           // of which so many are of one network,
	maxOfSite    = queue.OfSite * maxOfNetwork // and so many of one site
	maxReply     = 64 << 10                    // bytes of a provider's reply that are read
	// MaxAnswer is the length of the longest answer, in bytes. Those of Turnstile have 2 KiB at
	// most, some of hCaptcha more than 4 KB.
	MaxAnswer = 8 << 10
)

// Outcome is what becomes of an answer.
type Outcome string

// The outcomes.
const (
	Passed      Outcome = "passed"
	Failed      Outcome = "failed"
	Unavailable Outcome = "unreachable" // the provider has not said, in time or at all
	Busy        Outcome = "busy"        // too many were being verified: the provider was not asked
)

// From is where an answer comes from: the network, and the IPv6 site that it is in; the zero Prefix
// for none, or for one that is not known.
type From struct{ Network, Site netip.Prefix }

// Verifier asks providers. It is made by NewVerifier.
type Verifier struct {
	client *http.Client
	slots  slots

	mu     sync.Mutex
	shares map[netip.Prefix]*share // of those from which answers are verified, or wait for it
}

// slots are taken by those whose answers are verified.
type slots chan struct{}

// share is what one network, or site, may have of the slots.
type share struct {
	slots
	users int // who hold it, or wait. Guarded by mu of the Verifier
}

// NewVerifier returns a Verifier. Close it at the end.
func NewVerifier() *Verifier {
	return &Verifier{slots: make(slots, maxVerifying), shares: map[netip.Prefix]*share{}, client: &http.Client{
		Timeout:       budget,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: budget, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes the connections that are idle.
func (v *Verifier) Close() { v.client.CloseIdleConnections() }

// Verify asks the provider whether an answer is right. So that a network leaves others room, it has
// a share of what is verified at a time. The error says why it is Unavailable. Nothing that the
// visitor sends, or leaves undone, makes it so: where the visitor has gone, or the provider refuses
// the answer, it has Failed.
func (v *Verifier) Verify(ctx context.Context, c *Challenge, answer string, from From) (Outcome, error) {
	if answer == "" || len(answer) > MaxAnswer {
		return Failed, nil
	}
	leave, outcome := v.enter(ctx, from)
	if leave == nil {
		return outcome, nil
	}
	defer leave()
	right, err := v.ask(ctx, c, answer)
	switch {
	case ctx.Err() != nil:
		return Failed, nil
	case err != nil:
		return Unavailable, err
	case !right:
		return Failed, nil
	}
	return Passed, nil
}

// enter takes a slot, once there is one for a network. If there is none in time, or the visitor has
// gone, the outcome says so.
func (v *Verifier) enter(ctx context.Context, from From) (leave func(), outcome Outcome) {
	full := time.NewTimer(budget)
	defer full.Stop()
	var taken []slots
	network, site := v.share(from.Network, maxOfNetwork), v.share(from.Site, maxOfSite)
	leave = func() {
		for _, s := range taken {
			<-s
		}
		v.release(from.Network, from.Site)
	}
	for _, s := range []slots{network, site, v.slots} {
		if s == nil {
			continue
		}
		select {
		case s <- struct{}{}:
			taken = append(taken, s)
		case <-ctx.Done():
			leave()
			return nil, Failed
		case <-full.C:
			leave()
			return nil, Busy
		}
	}
	return leave, ""
}

// share is that of a network or site, which may have so many slots; nil for the zero Prefix.
// Release gives it back.
func (v *Verifier) share(of netip.Prefix, most int) slots {
	if !of.IsValid() {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.shares[of]
	if s == nil {
		s = &share{slots: make(slots, most)}
		v.shares[of] = s
	}
	s.users++
	return s.slots
}

func (v *Verifier) release(of ...netip.Prefix) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, prefix := range of {
		s := v.shares[prefix]
		if s == nil {
			continue
		}
		if s.users--; s.users == 0 {
			delete(v.shares, prefix)
		}
	}
}

// ask puts an answer to the provider. It fails if the provider cannot be reached, has a fault, or
// does not know the site.
func (v *Verifier) ask(ctx context.Context, c *Challenge, answer string) (right bool, err error) {
	form := url.Values{"secret": {c.cfg.Secret}, "response": {answer}}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.VerifyURL, strings.NewReader(form.Encode()))
	if err != nil {
		return false, fmt.Errorf("asking the provider: %w", err)
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := v.client.Do(q)
	if err != nil {
		return false, fmt.Errorf("asking the provider: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	switch {
	case err != nil:
		return false, fmt.Errorf("reading the provider's reply: %w", err)
	case resp.StatusCode >= http.StatusInternalServerError:
		return false, fmt.Errorf("the provider answers with status %d", resp.StatusCode)
	}
	return verdictIn(body)
}

// verdictIn is what a provider's reply says of an answer. What is no reply says no: it may be about
// a malformed answer. It fails if the reply is about the site.
func verdictIn(body []byte) (right bool, err error) {
	var reply struct {
		Success bool     `json:"success"`
		Errors  []string `json:"error-codes"`
	}
	if json.Unmarshal(body, &reply) != nil {
		return false, nil
	}
	if !reply.Success && slices.ContainsFunc(reply.Errors, isAboutSecret) {
		return false, fmt.Errorf("the provider does not take the site's secret: %s", strings.Join(reply.Errors, ", "))
	}
	return reply.Success, nil
}

// isAboutSecret reports whether an error code is about the site's secret. Visitors have no part in
// that; by other codes, also bad-request, internal-error and sitekey-secret-mismatch, providers
// refuse answers that visitors have made up or got for another site.
func isAboutSecret(code string) bool {
	return code == "missing-input-secret" || code == "invalid-input-secret"
}

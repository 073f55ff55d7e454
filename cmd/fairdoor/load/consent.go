package load

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy"
)

// ConsentPath is where a host that is not this machine says that crowds may be sent at it, if its
// gate does not at [proxy.LoadTokenPath]: by the SHA-256 of a token, in hexadecimal, as sha256sum
// prints it. Only those who know the token can send them, and only those who have the gate or the
// host can say so.
const ConsentPath = "/.well-known/fairdoor-load"

// leastToken is how many characters a token has at least, as nobody is to find it by its hash.
const leastToken = 20

// consents fails if neither the gate nor its host agrees to the crowd.
func (c *Config) consents(ctx context.Context, transport http.RoundTripper) error {
	if isLoopback(c.Gate.Hostname()) {
		return nil
	}
	hash := sha256.Sum256([]byte(c.Token))
	want := hex.EncodeToString(hash[:])
	var why []string
	for _, path := range []string{proxy.LoadTokenPath, ConsentPath} {
		not, err := c.disagrees(ctx, transport, path, want)
		if err != nil {
			return err
		}
		if not == "" {
			return nil
		}
		why = append(why, path+" "+not)
	}
	return fmt.Errorf("%s does not agree to a crowd: %s: have the gate say load_token: %s, or write that to %s%s and have the gate let the path pass, as by the preset well_known",
		c.site(), strings.Join(why, ", and "), want, c.site(), ConsentPath)
}

// disagrees says why a path of the gate's host does not agree to the crowd of those who know the
// token that has the hash; "" if it does.
func (c *Config) disagrees(ctx context.Context, transport http.RoundTripper, path, hash string) (why string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.site()+path, http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if err != nil {
		return "", err
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(body)), " ") // sha256sum writes the name of the file after it
	switch {
	case answer.StatusCode != http.StatusOK:
		return "answers " + answer.Status, nil
	case subtle.ConstantTimeCompare([]byte(said), []byte(hash)) != 1:
		return "says something else than the SHA-256 of the token", nil
	}
	return "", nil
}

var (
	errNotHere    = errors.New("must be at this machine: http://127.0.0.1, http://[::1] or http://localhost, with a port; or a host of yours, with --token")
	errShortToken = fmt.Errorf("token is too short: at least %d characters, as fairdoor keygen writes", leastToken)
)

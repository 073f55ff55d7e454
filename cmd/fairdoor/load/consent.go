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
)

// ConsentPath is where a host that is not this machine says that crowds may be sent at it: by the
// SHA-256 of a token, in hexadecimal, as sha256sum prints it. Only those who know the token can send
// them, and only those who have the host can write the file.
const ConsentPath = "/.well-known/fairdoor-load"

// leastToken is how many characters a token has at least, as nobody is to find it by its hash.
const leastToken = 20

// consents fails if the gate's host does not agree to the crowd.
func (c *Config) consents(ctx context.Context, transport http.RoundTripper) error {
	if isLoopback(c.Gate.Hostname()) {
		return nil
	}
	hash := sha256.Sum256([]byte(c.Token))
	want := hex.EncodeToString(hash[:])
	refused := func(why string) error {
		return fmt.Errorf("%s does not agree to a crowd: %s: write %s to %s%s, and have the gate let that path pass, as by the preset well_known",
			c.site(), why, want, c.site(), ConsentPath)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.site()+ConsentPath, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if err != nil {
		return err
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(body)), " ") // sha256sum writes the name of the file after it
	switch {
	case answer.StatusCode != http.StatusOK:
		return refused("it answers " + answer.Status)
	case subtle.ConstantTimeCompare([]byte(said), []byte(want)) != 1:
		return refused("what it says is not the SHA-256 of the token")
	}
	return nil
}

var (
	errNotHere    = errors.New("must be at this machine: http://127.0.0.1, http://[::1] or http://localhost, with a port; or a host of yours, with --token")
	errShortToken = fmt.Errorf("token is too short: at least %d characters, as fairdoor keygen writes", leastToken)
)

package webpush

import (
	"crypto/ecdsa"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

// tokenLasts is for how long a push service believes a header; 24 hours at most (RFC 8292, 2).
const tokenLasts = 12 * time.Hour

// Key is the key by which push services know the sender.
type Key struct {
	private *ecdsa.PrivateKey
	public  string
}

// KeysOf derives a key of each cookie key, in their order.
func KeysOf(keys []cookie.Key) ([]Key, error) {
	pairs, err := cookie.Keys(keys).DeriveP256("VAPID")
	if err != nil {
		return nil, err
	}
	list := make([]Key, len(pairs))
	for i, pair := range pairs {
		point, err := pair.PublicKey.Bytes()
		if err != nil {
			return nil, fmt.Errorf("writing a public key: %w", err)
		}
		list[i] = Key{pair, base64.RawURLEncoding.EncodeToString(point)}
	}
	return list, nil
}

// Public is the public key, as a page's PushManager takes it: base64 for URLs.
func (k Key) Public() string { return k.public }

// authorize returns the header that tells the service at an origin who sends. The site is an
// address by which its operator is found.
func (k Key) authorize(origin, site string, now time.Time) (string, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"aud": origin, "exp": now.Add(tokenLasts).Unix(), "sub": site}).SignedString(k.private)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return "vapid t=" + token + ", k=" + k.public, nil
}

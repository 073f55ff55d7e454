// Package bearer has the tokens and keys that programs show: Authorization: Bearer TOKEN.
package bearer

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

// Token is the one that a request shows; "" for none.
func Token(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// Is reports whether a token is one of those that are wanted. How long that takes says nothing about
// them.
func Is(token string, wanted ...string) bool {
	given, found := sha256.Sum256([]byte(token)), 0
	for _, w := range wanted {
		want := sha256.Sum256([]byte(w))
		found |= subtle.ConstantTimeCompare(given[:], want[:])
	}
	return found == 1
}

// Refuse answers a request that shows no token that counts: 401, with what would count, such as "the
// admin token".
func Refuse(w http.ResponseWriter, what string) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	reply.Problem(w, http.StatusUnauthorized, "Send "+what+": Authorization: Bearer ….")
}

package main

import (
	"net/http"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// behindTheGate serves the site to requests that the gate has signed, or that bring an admission
// token of the gate, and refuses all others: so nobody gets to the site around the gate.
func behindTheGate(keys jwt.Keyfunc, site http.Handler) http.Handler {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer("fairdoor"),
		jwt.WithAudience("origin", "edge"), jwt.WithExpirationRequired())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims := jwt.MapClaims{}
		_, err := parser.ParseWithClaims(r.Header.Get("Fairdoor-Assertion"), claims, keys)
		if err != nil || claims["room"] != "shop" {
			http.Error(w, "Please come through the front door.", http.StatusForbidden)
			return
		}
		came, _ := claims.GetAudience() // the parser has read it
		w.Header().Set("Came-By", strings.Join(came, " "))
		site.ServeHTTP(w, r)
	})
}

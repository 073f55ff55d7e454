package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

// authorised asks for the token, if there is one: of programs as a bearer token, of browsers by the
// cookie of who has logged in.
func (a *api) authorised(next http.Handler) http.Handler {
	if a.Token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.isOperator(r):
			next.ServeHTTP(w, r)
		case !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html"):
			a.show(dashboard.Login{}.Write(w))
		default:
			if _, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); token != "" {
				a.wrongToken(r)
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			reply.Problem(w, http.StatusUnauthorized, "Send the admin token: Authorization: Bearer ….")
		}
	})
}

// isOperator reports whether the sender of a request has shown to be an operator. Where there is no
// token, everybody is who says to be nobody else.
func (a *api) isOperator(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if a.Token == "" {
		return token == ""
	}
	return strings.EqualFold(scheme, "Bearer") && a.isToken(token) || a.sessions.Has(r)
}

// isToken reports whether a text is the token. How long that takes says nothing about the token.
func (a *api) isToken(text string) bool {
	given, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(a.Token))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// maxForm bounds the body of a form, in bytes.
const maxForm = 16 << 10

// wrongToken logs that somebody has sent a token that is none.
func (a *api) wrongToken(r *http.Request) {
	a.Log.Warn("wrong admin token", zap.String("by", a.by(r)))
}

// logIn takes the token from the form. Nothing is kept of a wrong one.
func (a *api) logIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if a.Token != "" && !a.isToken(r.PostFormValue("token")) {
		a.wrongToken(r)
		a.show(dashboard.Login{Wrong: true}.Write(w))
		return
	}
	if name := cleanName(r.PostFormValue("name")); name != "" {
		r.Header.Set(asHeader, name)
	}
	a.Log.Info("operator logged in", zap.String("by", a.by(r)))
	a.sessions.Begin(w, r, cleanName(r.Header.Get(asHeader)))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// logOut ends the session of an operator.
func (a *api) logOut(w http.ResponseWriter, r *http.Request) {
	a.Log.Info("operator logged out", zap.String("by", a.by(r)))
	a.sessions.End(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// show logs why a page could not be shown.
func (a *api) show(err error) {
	if err != nil {
		a.Log.Debug("a page of the dashboard was not shown", zap.Error(err))
	}
}

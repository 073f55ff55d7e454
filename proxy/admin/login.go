package admin

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/bearer"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

// authorised asks for a token, if there are any: of programs as a bearer token, of browsers by the
// cookie of who has logged in. Who may only look gets no further with what changes something.
func (a *api) authorised(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, found := a.operatorOf(r)
		switch {
		case !a.asks() || found && (!o.Views || r.Method == http.MethodGet || r.Method == http.MethodHead || r.URL.Path == logOutPath):
			next.ServeHTTP(w, r)
		case found:
			a.problem(w, r, http.StatusForbidden, mayOnlyLook)
		case isPage(r):
			to := "/"
			if r.Method == http.MethodGet {
				to = r.URL.RequestURI()
			}
			a.show(dashboard.Login{To: to}.Write(w, r))
		default:
			if bearer.Token(r) != "" {
				a.wrongToken(r)
			}
			bearer.Refuse(w, "the admin token")
		}
	})
}

// mayOnlyLook is what a viewer is told who wants to change something.
const mayOnlyLook = "Your token is for looking only. Ask somebody for the change who has the role operator."

// ForOperators is what a viewer is told who asks for what lets its reader in.
const ForOperators = "Your token is for looking only, and whoever sees this can use it. Ask somebody who has the role operator."

const logOutPath = "/logout"

// asks reports whether operators are asked for a token.
func (a *api) asks() bool { return len(a.operators()) > 0 }

// isPage reports whether a request is for a page of the dashboard.
func isPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// problem answers with what went wrong: browsers with a page, and programs with problem+json.
func (a *api) problem(w http.ResponseWriter, r *http.Request, status int, detail string) {
	if isPage(r) {
		a.show(dashboard.Refusal{Frame: a.frame(r, refusalTitle(r, status)), Status: status, Detail: detail, Back: "/", Refused: r.Method != http.MethodGet}.Write(w, r))
		return
	}
	reply.Problem(w, status, detail)
}

// isOperator reports whether the sender of a request has shown to be an operator who may change
// something. Where there is no token, everybody is who says to be nobody else.
func (a *api) isOperator(r *http.Request) bool {
	o, found := a.operatorOf(r)
	return found && !o.Views
}

// maxLogIn bounds the body of the form that asks for a token, in bytes; maxForm that of those of
// operators: an event may have a page of 64 KiB, of which each byte may take three in a form.
const (
	maxLogIn = 16 << 10
	maxForm  = 256 << 10
)

// wrongToken logs that somebody has sent a token that is none.
func (a *api) wrongToken(r *http.Request) {
	a.Log.Warn("wrong admin token", zap.String("by", a.by(r)))
}

// logIn takes the token from the form. Nothing is kept of a wrong one.
func (a *api) logIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogIn)
	o, found := holder(a.operators(), r.PostFormValue("token"))
	if !found && a.asks() {
		a.wrongToken(r)
		a.show(dashboard.Login{Wrong: true, To: r.PostFormValue("to")}.Write(w, r))
		return
	}
	name := cmp.Or(o.Name, cleanName(r.PostFormValue("name")), cleanName(r.Header.Get(asHeader)))
	a.Log.Info("operator logged in", zap.String("by", signed(name, r)))
	a.sessions.Begin(w, r, o.Token, name)
	http.Redirect(w, r, ownPath(r.PostFormValue("to")), http.StatusSeeOther)
}

// ownPath is a path of the dashboard, as a form has it; "/" for what is none.
func ownPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, "/") || strings.ContainsAny(text, "\\\r\n") || strings.HasPrefix(text, "//") {
		return "/"
	}
	return text
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

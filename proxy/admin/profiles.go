package admin

import (
	"net/http"
	"net/http/pprof"
)

// profilesPath is where the profiles of the process are, as go tool pprof asks for them.
const profilesPath = "/debug/pprof/"

// profiles are the resources that show what the process spends its time and memory on. The command
// line is not among them: it may hold secrets.
func (a *api) profiles() []Resource {
	var all []Resource
	for name, answer := range map[string]http.HandlerFunc{"": pprof.Index, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace} {
		all = append(all, Resource{Pattern: "GET " + profilesPath + name, Answer: a.forOperators(answer)})
	}
	return all
}

// forOperators keeps viewers from what costs the gate something.
func (a *api) forOperators(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !a.isOperator(r) {
			a.problem(w, r, http.StatusForbidden, "Your token is for looking only, and a profile slows the gate. Ask somebody who has the role operator.")
			return
		}
		next(w, r)
	}
}

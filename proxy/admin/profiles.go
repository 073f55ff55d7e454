package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"time"
)

// profilesPath is where the profiles of the process are, as go tool pprof asks for them.
const profilesPath = "/debug/pprof/"

// longestProfile is for how long a profile or trace is taken at most.
const longestProfile = 5 * time.Minute

// profiles are the resources that show what the process spends its time and memory on. Package
// net/http/pprof has them, too, but puts them on http.DefaultServeMux besides, which visitors of a
// program that embeds the gate may reach.
func (a *api) profiles() []Resource {
	return []Resource{
		{Pattern: "GET " + profilesPath + "{$}", Answer: a.forOperators(listProfiles)},
		{Pattern: "GET " + profilesPath + "profile", Answer: a.forOperators(a.during(pprof.StartCPUProfile, pprof.StopCPUProfile))},
		{Pattern: "GET " + profilesPath + "trace", Answer: a.forOperators(a.during(trace.Start, trace.Stop))},
		{Pattern: "GET " + profilesPath + "{name}", Answer: a.forOperators(a.profile)},
	}
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

// listProfiles names the profiles, one in a line.
func listProfiles(w http.ResponseWriter, _ *http.Request) {
	names := []string{"profile", "trace"}
	for _, p := range pprof.Profiles() {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, strings.Join(names, "\n"))
}

// profile answers with a profile of what is there now: as text where debug is more than 0.
func (a *api) profile(w http.ResponseWriter, r *http.Request) {
	p := pprof.Lookup(r.PathValue("name"))
	if p == nil {
		a.problem(w, r, http.StatusNotFound, "There is no such profile. GET "+profilesPath+" lists all.")
		return
	}
	debug, _ := strconv.Atoi(r.FormValue("debug"))
	w.Header().Set("Content-Type", "application/octet-stream")
	if debug > 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	_ = p.WriteTo(w, debug) // who asked has gone, else
}

// during answers with what is recorded for so many seconds, 30 by default.
func (a *api) during(start func(io.Writer) error, stop func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.Atoi(r.FormValue("seconds"))
		if err != nil || seconds <= 0 {
			seconds = 30
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // it ends by itself
		w.Header().Set("Content-Type", "application/octet-stream")
		if err := start(w); err != nil {
			a.problem(w, r, http.StatusConflict, "One is being recorded already: "+err.Error()+".")
			return
		}
		defer stop()
		ctx, cancel := context.WithTimeout(r.Context(), min(time.Duration(seconds)*time.Second, longestProfile))
		defer cancel()
		<-ctx.Done()
	}
}

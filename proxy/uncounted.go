package proxy

import (
	"context"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// passesBy says whether a request passes the room by, and if so answers it: a rule exempts it, or
// the room is suspended, or it is a preflight. Of a family's rooms there may be none for it.
func (g *Gate) passesBy(w http.ResponseWriter, r *http.Request, by guard, of *feature.Room, s *feature.Setup) bool {
	switch {
	case by.Suspended() || s.Action(r) == route.BypassWaitingRoom:
		by.Count(metrics.Exempt)
		g.witnesses.exempt(r, by)
		if of != nil {
			r = ask(r, of, s, nil)
		}
		g.pass(w, r, s.Origin, s.Assertions, false)
	case feature.Preflight(r):
		g.passUncounted(w, r, by, s, s.RefusesPreflight(r, by.Settings()))
	default:
		return false
	}
	return true
}

// The answers to a page whose browser does not send the cookie back: it cannot wait, or it
// is to be loaded again, because nobody has to wait any more.
var (
	cannotWait = []byte(`{"cfWaitingRoom":{"inWaitingRoom":false,"cookieMissing":true}}` + "\n")
	loadAgain  = []byte(`{"cfWaitingRoom":{"inWaitingRoom":false}}` + "\n")
)

// answerWithoutCookie answers a check-in of such a page, which takes no place.
func (a *answers) answerWithoutCookie(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	body := loadAgain
	v.Setup.Answers(w.Header(), r)
	if v.WouldWait() {
		feature.RetryLater(w.Header(), v.Room.Settings())
		body = cannotWait
	}
	feature.WriteProblem(w, r, http.StatusOK, body, feature.JSONType)
}

type uncountedKey struct{}

// passUncounted answers a request that takes neither a place nor a slot. The origin gets it
// unless it is to be withheld, or its network has had its share of such requests.
func (g *Gate) passUncounted(w http.ResponseWriter, r *http.Request, by feature.Counted, s *feature.Setup, withhold bool) {
	from, ok := networks.Entry{}, false
	if !withhold {
		from, ok = g.uncounted.Enter(s.Trust.ClientAddr(r), g.o.Clock())
	}
	if !ok {
		g.witnesses.withheld(r, by)
		g.withhold(w, r, by, s)
		return
	}
	defer from.Leave()
	by.Count(metrics.Exempt)
	g.witnesses.exempt(r, by)
	g.pass(w, r.WithContext(context.WithValue(r.Context(), uncountedKey{}, true)), s.Origin, s.Assertions, false)
}

// withhold answers a request that takes neither a place nor a slot, and that the origin does not
// get now.
func (a *answers) withhold(w http.ResponseWriter, r *http.Request, by feature.Counted, rs *feature.Setup) {
	by.Count(metrics.Withheld)
	rs.Answers(w.Header(), r)
	if feature.AsksForIcon(r) {
		icon(rs, w, r)
		return
	}
	feature.RetryLater(w.Header(), by.Settings())
	feature.WriteProblem(w, r, http.StatusServiceUnavailable, a.problems.JSON(http.StatusServiceUnavailable), feature.ProblemType)
}

// refuseLasting replaces an answer that goes on, if it is to an uncounted request. Only
// visitors who are in may have such an answer.
func refuseLasting(resp *http.Response) {
	if !lasts(resp) || resp.Request.Context().Value(uncountedKey{}) == nil {
		return
	}
	_ = resp.Body.Close()
	resp.StatusCode, resp.Header, resp.Trailer = http.StatusServiceUnavailable, http.Header{"Cache-Control": feature.NoStore}, nil
	resp.Body, resp.ContentLength = http.NoBody, 0
}

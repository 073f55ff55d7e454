package proxy

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// isUnproven says whether the visitor gets a new place in line only after the room's challenge. A ticket
// with a place or a session is proof; a user whom the site names, a guest and the holder of a pass need none.
func (v *visitor) isUnproven() bool { return v.setup.challenge != nil && v.subject == queue.ID{} }

// turnAway answers a visitor who is not let in and has no place.
func (g *Gate) turnAway(w http.ResponseWriter, r *http.Request, v visitor) {
	waits := v.ticket.State == queue.Waiting && unsafe(r) && !sentByAPage(r) // and would check in with another request
	if !v.isUnproven() || waits || v.takesNoPlace(r) {
		g.busy(w, r, v)
		return
	}
	g.challenge(w, r, v)
}

// challenge answers a visitor who has to pass the room's challenge first.
func (g *Gate) challenge(w http.ResponseWriter, r *http.Request, v visitor) {
	v.room.Count(metrics.Challenged)
	v.setup.answers(w.Header(), r)
	h, language, c := w.Header(), v.setup.language(r), v.setup.challenge
	if language == "" || unsafe(r) && !sentByAPage(r) {
		leaveBody(h, r)
		g.writeProblem(w, r, http.StatusForbidden, c.JSON(v.setup.cfg.Name), jsonType)
		return
	}
	address, status := addressOf(r), v.setup.cfg.StatusCode
	if unsafe(r) {
		address, status = g.lineAddress(r, &v), http.StatusTooManyRequests
	}
	h["Content-Security-Policy"], h["Content-Language"] = []string{c.ContentSecurityPolicy()}, []string{language}
	g.writeProblem(w, r, status, c.AppendPage(nil, language, v.setup.cfg.Name, address, v.room.settings().Message), htmlType)
}

// takeAnswer takes a visitor's answer to the challenge of the room that the query names. If it is right, they
// get a place, or are let in: their cookie is the proof. So one answer is good for one place, however many
// bring that cookie.
func (g *Gate) takeAnswer(w http.ResponseWriter, r *http.Request, s *setup) {
	of := s.roomNamed(r.URL.Query().Get("room"))
	if of == nil || of.setup.Load().challenge == nil || !of.setup.Load().isOn(r.Host) {
		g.problem(w, r, http.StatusNotFound, g.languages)
		return
	}
	rs := of.setup.Load()
	addr := s.trust.ClientAddr(r)
	v, err := of.visitor(r, rs, g.o.Clock(), s.trust)
	switch {
	case foreign(r) && !rs.lists(r.Header.Get("Origin")):
		g.problem(w, r, http.StatusBadRequest, g.languages)
	case err != nil:
		g.problem(w, r, http.StatusRequestHeaderFieldsTooLarge, g.languages)
	case v.uninvited:
		reply.Problem(w, http.StatusForbidden, "This room is not open to everybody.")
	default:
		from, ok := g.networks.enter(addr, g.o.Clock())
		if !ok {
			retryLater(w.Header(), of.settings())
			g.problem(w, r, http.StatusTooManyRequests, g.languages)
			return
		}
		defer from.leave()
		rs.answers(w.Header(), r)
		g.verify(w, r, v, answerIn(w, r), addr)
	}
}

// sharesOf are the networks of an address, which have shares of what is verified at a time.
func sharesOf(addr netip.Addr) challenge.From {
	network := networkOf(addr)
	return challenge.From{Network: network, Site: siteOf(network)}
}

// prove has an answer of somebody who signs up on the room's waitlist verified.
func (g *Gate) prove(ctx context.Context, rs *roomSetup, answer string, addr netip.Addr) (proven, later bool) {
	outcome, err := g.verifier.Verify(ctx, rs.challenge, answer, sharesOf(addr))
	if of := g.current.Load().roomNamed(rs.cfg.Name); of != nil {
		of.CountAnswer(outcome)
	}
	rs.heard(outcome, err)
	if outcome == challenge.Unavailable {
		return rs.cfg.Challenge.OnUnreachable != challenge.Refuse, true
	}
	return outcome == challenge.Passed, outcome == challenge.Busy
}

// verify has an answer verified, and tells the visitor how they stand then.
func (g *Gate) verify(w http.ResponseWriter, r *http.Request, v visitor, answer string, addr netip.Addr) {
	outcome, err := g.verifier.Verify(r.Context(), v.setup.challenge, answer, sharesOf(addr))
	v.room.CountAnswer(outcome)
	v.setup.heard(outcome, err)
	switch {
	case outcome == challenge.Failed:
		reply.Problem(w, http.StatusForbidden, "The answer to the challenge is not right, or was used before.")
		return
	case outcome == challenge.Busy, outcome == challenge.Unavailable && v.setup.cfg.Challenge.OnUnreachable == challenge.Refuse:
		retryLater(w.Header(), v.room.settings())
		reply.Problem(w, http.StatusServiceUnavailable, "The challenge cannot be verified at the moment.")
		return
	}
	v.now = g.o.Clock()
	d := v.joinProven(r)
	v.setCookies(w.Header(), r, &d)
	vary(w.Header())
	w.Header()["X-Content-Type-Options"] = noSniff
	reply.JSON(w, v.describe(&d))
}

// joinProven gives a visitor who has passed the challenge a place, or lets them in.
func (v *visitor) joinProven(r *http.Request) queueroom.Decision {
	switch {
	case v.flagged:
		v.room.Count(metrics.Endless)
		return v.endlessPlace()
	case v.room.queue.Suspended():
		return queueroom.Decision{Ticket: v.ticket}
	}
	asked := v.request(false, false)
	asked.Ask = queueroom.Ask{By: queueroom.Question}
	d := v.room.queue.Visit(r.Context(), v.now, asked)
	v.room.CountDecision(d)
	return d
}

// heard logs that the provider has stopped to verify answers, or does so again.
func (rs *roomSetup) heard(outcome challenge.Outcome, err error) {
	switch {
	case !rs.challenge.Heard(outcome):
	case err != nil:
		rs.log.Warn("answers to the challenge cannot be verified", zap.Error(err))
	default:
		rs.log.Info("answers to the challenge are verified again")
	}
}

// answerIn returns the answer that a form or JSON has; "" for none.
func answerIn(w http.ResponseWriter, r *http.Request) string {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2*challenge.MaxAnswer))
	if err != nil {
		return ""
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); strings.HasSuffix(kind, "json") {
		var object struct {
			Response string `json:"response"`
		}
		if json.Unmarshal(body, &object) != nil {
			return ""
		}
		return object.Response
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return ""
	}
	return form.Get("response")
}

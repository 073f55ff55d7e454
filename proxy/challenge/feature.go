package challenge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// name is that of the path by which answers come.
const name = "challenge"

// Feature are the challenges of a gate.
type Feature struct {
	gate     feature.Gate
	verifier *Verifier
	answers  metrics.Series
}

// NewFeature returns the challenges of a gate.
func NewFeature(g feature.Gate) *Feature {
	answers := g.Metrics().Series("fairdoor_challenges_total", "Answers to the challenge by what became of them.", "room", "outcome")
	return &Feature{g, NewVerifier(), answers}
}

// Close implements [feature.Closer].
func (f *Feature) Close() { f.verifier.Close() }

// Part implements [feature.Feature].
func (f *Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	counters := map[Outcome]metrics.Counter{} // each is told from the start, also where there is no challenge
	for _, o := range []Outcome{Passed, Failed, Unavailable, Busy} {
		counters[o] = f.answers.With(s.Config.Name, string(o))
	}
	c := config.OptionsOf[Config](&s.Config)
	if !c.IsOn() {
		return nil, nil
	}
	made, err := New(c, s.Identity)
	if err != nil {
		return nil, fmt.Errorf("making the challenge: %w", err)
	}
	p := &part{made, f, s, counters}
	s.Proof = p
	return p, nil
}

// part is the challenge of a room, or that of the rooms of a family.
type part struct {
	*Challenge
	feature  *Feature
	setup    *feature.Setup
	counters map[Outcome]metrics.Counter
}

// Recognise implements [feature.Recogniser]. A ticket with a place or a session is proof; a user
// whom the site names, a guest and the holder of a pass need none.
func (p *part) Recognise(_ *http.Request, v *feature.Visit) { v.Unproven = v.Subject == queue.ID{} }

// Instead implements [feature.Substitute]: a visitor who would take a place has to pass the
// challenge first.
func (p *part) Instead(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) bool {
	waits := v.Ticket.State == queue.Waiting && feature.Unsafe(r) && !feature.SentByAPage(r) // and would check in with another request
	if d.Outcome != room.Busy || !v.Unproven || waits || v.TakesNoPlace(r) {
		return false
	}
	v.Room.Count(metrics.Unproven)
	v.Setup.Answers(w.Header(), r)
	h, language, of := w.Header(), v.Setup.Language(r), v.Setup.Config.Name
	if language == "" || feature.Unsafe(r) && !feature.SentByAPage(r) {
		feature.LeaveBody(h, r)
		feature.WriteProblem(w, r, http.StatusForbidden, p.JSON(of), feature.JSONType)
		return true
	}
	address, status := feature.AddressOf(r), v.Setup.Config.StatusCode
	if feature.Unsafe(r) {
		address, status = v.LineAddress(r, p.feature.gate), http.StatusTooManyRequests
	}
	h["Content-Security-Policy"], h["Content-Language"] = []string{p.ContentSecurityPolicy()}, []string{language}
	feature.WriteProblem(w, r, status, p.AppendPage(nil, language, of, address, v.Room.Settings().Message), feature.HTMLType)
	return true
}

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	return []feature.Path{{Name: name, Method: http.MethodPost, Serve: f.serve}}
}

// serve takes a visitor's answer to the challenge of the room that the query names. If it is right,
// they get a place, or are let in: their cookie is the proof. So one answer is good for one place,
// however many bring that cookie.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	of := f.gate.Room(r.URL.Query().Get("room"))
	var p *part
	if of != nil {
		p, _ = feature.PartOf[*part](of.Setup())
	}
	if p == nil || !of.Setup().IsOn(r.Host) {
		f.gate.Problem(w, r, http.StatusNotFound)
		return
	}
	var v feature.Visit
	s := of.Setup()
	err := v.Read(r, of, s, f.gate.Now())
	switch {
	case feature.Foreign(r) && !s.Lists(r.Header.Get("Origin")):
		f.gate.Problem(w, r, http.StatusBadRequest)
	case err != nil:
		f.gate.Problem(w, r, http.StatusRequestHeaderFieldsTooLarge)
	case v.Shut:
		reply.Problem(w, http.StatusForbidden, "This room is not open to everybody.")
	default:
		leave, ok := f.gate.Enter(s.Trust.ClientAddr(r))
		if !ok {
			feature.RetryLater(w.Header(), of.Settings())
			f.gate.Problem(w, r, http.StatusTooManyRequests)
			return
		}
		defer leave()
		s.Answers(w.Header(), r)
		p.take(w, r, &v)
	}
}

// take has an answer verified, and tells the visitor how they stand then.
func (p *part) take(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	outcome := p.verify(r.Context(), v.Setup.Log, answerIn(w, r), v.Setup.Trust.ClientAddr(r))
	switch {
	case outcome == Failed:
		reply.Problem(w, http.StatusForbidden, "The answer to the challenge is not right, or was used before.")
		return
	case outcome == Busy, outcome == Unavailable && p.cfg.OnUnreachable == Refuse:
		feature.RetryLater(w.Header(), v.Room.Settings())
		reply.Problem(w, http.StatusServiceUnavailable, "The challenge cannot be verified at the moment.")
		return
	}
	v.Now = p.feature.gate.Now()
	d := p.join(r, v)
	v.SetCookies(w.Header(), r, &d)
	feature.Vary(w.Header())
	w.Header()["X-Content-Type-Options"] = feature.NoSniff
	reply.JSON(w, p.feature.gate.Stand(v, &d))
}

// join gives a visitor who has passed the challenge a place, or lets them in.
func (p *part) join(r *http.Request, v *feature.Visit) room.Decision {
	switch {
	case v.Endless != nil:
		d := v.EndlessPlace()
		v.Count(&d)
		return d
	case v.Room.Queue.Suspended():
		return room.Decision{Ticket: v.Ticket}
	}
	asked := v.Request(false, false)
	asked.Ask = room.Ask{By: room.Question}
	d := v.Room.Queue.Visit(r.Context(), v.Now, asked)
	v.Count(&d)
	return d
}

// Prove implements [feature.Proof].
func (p *part) Prove(ctx context.Context, answer string, addr netip.Addr) (proven, later bool) {
	outcome := p.verify(ctx, p.setup.Log, answer, addr)
	if outcome == Unavailable {
		return p.cfg.OnUnreachable != Refuse, true
	}
	return outcome == Passed, outcome == Busy
}

// verify has an answer from an address verified. It logs when the provider stops to verify answers,
// or does so again.
func (p *part) verify(ctx context.Context, log *zap.Logger, answer string, addr netip.Addr) Outcome {
	network := networks.Of(addr)
	outcome, err := p.feature.verifier.Verify(ctx, p.Challenge, answer, From{Network: network, Site: networks.SiteOf(network)})
	p.counters[outcome].Inc()
	switch {
	case !p.Heard(outcome):
	case err != nil:
		log.Warn("answers to the challenge cannot be verified", zap.Error(err))
	default:
		log.Info("answers to the challenge are verified again")
	}
	return outcome
}

// answerIn returns the answer that a form or JSON has; "" for none.
func answerIn(w http.ResponseWriter, r *http.Request) string {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2*MaxAnswer))
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

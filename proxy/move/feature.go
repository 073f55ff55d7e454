// Package move lets somebody who waits move their place to another device, by a link that the other
// device opens.
package move

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/qrcode"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates/passpage"
)

const (
	// linkLasts is for how long a link moves a place.
	linkLasts = 10 * time.Minute
	// movesPerNetwork is how many places a network moves in no time, and again in the time for
	// which the copies of one are void.
	movesPerNetwork = 50
	// picturesPerMinute is how many links of a network are drawn as a QR code.
	picturesPerMinute = 30
)

// Feature moves the places of a gate's visitors.
type Feature struct {
	gate            feature.Gate
	moves, pictures *networks.Bounds
}

// NewFeature returns what moves the places of a gate's visitors.
func NewFeature(g feature.Gate) *Feature {
	return &Feature{gate: g, moves: networks.New(), pictures: networks.New()}
}

// part is what a room has to move places.
type part struct {
	feature *Feature
	seals   seals
	pages   *passpage.Pages
}

// Part implements [feature.Feature].
func (f *Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	pages, err := passpage.New(s.Config.Language, s.Identity)
	if err != nil {
		return nil, fmt.Errorf("making the pages of links: %w", err)
	}
	return (&part{feature: f, pages: pages}).For(s)
}

// For implements [feature.Sharer].
func (p *part) For(s *feature.Setup) (feature.Part, error) {
	seals, err := newSeals(s.Keys, s.Config.Name)
	if err != nil {
		return nil, fmt.Errorf("making the keys of links: %w", err)
	}
	return &part{p.feature, seals, p.pages}, nil
}

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path { return []feature.Path{{Name: "move", Serve: f.serve}} }

// serve answers requests for the path by which a place moves to another device: it shows somebody
// who waits a link, and whoever opens the link the button that takes the place.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	of := f.gate.Room(r.URL.Query().Get("room"))
	if of == nil || !of.Setup().IsOn(r.Host) {
		f.gate.Problem(w, r, http.StatusNotFound)
		return
	}
	s, token := of.Setup(), r.URL.Query().Get("t")
	p, _ := feature.PartOf[*part](s)
	switch {
	case r.Method == http.MethodPost && feature.Foreign(r):
		f.gate.Problem(w, r, http.StatusBadRequest)
	case r.Method == http.MethodPost:
		p.take(w, r, of, s)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD, POST")
		f.gate.Problem(w, r, http.StatusMethodNotAllowed)
	case token == "":
		p.offer(w, r, of, s)
	default:
		if _, ok := p.seals.open(token, f.gate.Now()); !ok {
			p.page(w, r, http.StatusGone, passpage.View{State: passpage.Gone})
			return
		}
		p.page(w, r, http.StatusOK, passpage.View{State: passpage.Take, Path: s.OwnAddress("move"), Token: token, To: r.URL.Query().Get("to")})
	}
}

// offer shows somebody who waits the link by which their place moves. It changes nothing. A user of
// the site, and the holder of a pass, have their place on every device in any case.
func (p *part) offer(w http.ResponseWriter, r *http.Request, of *feature.Room, s *feature.Setup) {
	var v feature.Visit
	err := v.Read(r, of, s, p.feature.gate.Now())
	switch {
	case err != nil:
	case v.Endless != nil:
		v.Ticket, _ = v.EndlessTicket()
	default:
		v.Ticket, _ = of.Queue.Peek(r.Context(), v.Now, v.Request(false, false))
	}
	if err != nil || v.Ticket.State != queue.Waiting || v.Subject != (queue.ID{}) || v.Ticket.Moved >= room.MostMoves {
		p.page(w, r, http.StatusConflict, passpage.View{State: passpage.Gone})
		return
	}
	link, err := p.link(r, &v)
	var picture string
	if err == nil && p.feature.pictures.PerMinute(s.Trust.ClientAddr(r), v.Now, picturesPerMinute) {
		picture, err = qrcode.URL(link)
	}
	if err != nil { // which no ticket causes
		s.Log.Error("link not made", s.About(r, v.Ticket.ID), zap.Error(err))
		p.feature.gate.Problem(w, r, http.StatusServiceUnavailable)
		return
	}
	p.page(w, r, http.StatusOK, passpage.View{State: passpage.Carry, Link: link, Picture: picture})
}

// link is the link by which the visitor's place moves. That of a visitor in the endless line, who
// has none, leads nowhere.
func (p *part) link(r *http.Request, v *feature.Visit) (string, error) {
	lasts := min(linkLasts, v.Room.Settings().QueueTicketTTL)
	if v.Endless != nil {
		lasts = 0
	}
	sealed, err := p.seals.seal(v.Ticket, v.Now.Add(lasts))
	link := v.Setup.Trust.Scheme(r) + "://" + r.Host + v.Setup.OwnAddress("move")
	if to := feature.WayIn(p.feature.gate, v.Room, r, r.URL.Query().Get("to")); to != v.Setup.PathOn(r.Host) {
		link += "&to=" + url.QueryEscape(to)
	}
	return link + "&t=" + sealed, err
}

// take moves the place of a link to the device that sends the form, and lets it go on to the room.
func (p *part) take(w http.ResponseWriter, r *http.Request, of *feature.Room, s *feature.Setup) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	now := p.feature.gate.Now()
	t, ok := p.seals.open(r.PostFormValue("token"), now)
	if !ok {
		p.page(w, r, http.StatusGone, passpage.View{State: passpage.Gone})
		return
	}
	if !p.feature.may(s.Trust.ClientAddr(r), now, of) {
		feature.RetryAfter(w.Header(), time.Minute)
		p.feature.gate.Problem(w, r, http.StatusTooManyRequests)
		return
	}
	left := t
	t, err := of.Queue.Move(r.Context(), now, t)
	switch {
	case errors.Is(err, room.ErrMoved):
		p.page(w, r, http.StatusGone, passpage.View{State: passpage.Gone})
		return
	case err != nil:
		s.Log.Warn("place not moved", s.About(r, left.ID), zap.Error(err))
		feature.RetryAfter(w.Header(), 5*time.Second)
		p.page(w, r, http.StatusServiceUnavailable, passpage.View{State: passpage.Unavailable})
		return
	}
	of.Seats.CutCopies(&left)
	v := feature.Visit{Setup: s, Bound: s.Binder.Bind(r, s.Trust), HTTPS: s.HTTPS(r)}
	value, err := v.Seal(&t)
	if err != nil { // which no ticket causes
		s.Log.Error("ticket not issued", s.About(r, t.ID), zap.Error(err))
		p.feature.gate.Problem(w, r, http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	h["Set-Cookie"], h["Cache-Control"] = append(h["Set-Cookie"], value), feature.NoStore
	h.Set("Referrer-Policy", "strict-origin")
	h.Set("Location", feature.WayIn(p.feature.gate, of, r, r.PostFormValue("to")))
	w.WriteHeader(http.StatusSeeOther)
}

// may says whether the network of an address may move another place of a room: an attempt, and a
// part of the moves that the room has.
func (f *Feature) may(addr netip.Addr, now time.Time, of *feature.Room) bool {
	settings := of.Settings()
	each := max(settings.QueueTicketTTL, settings.SessionDuration) / movesPerNetwork
	return f.gate.Attempts().PerMinute(addr, now, feature.AttemptsPerMinute) && f.moves.Spend(addr, now, each, movesPerNetwork)
}

// Instead implements [feature.Substitute]: it answers the device that a place has moved from. The
// page has its browser forget the ticket, and every answer the admission token; before, the ticket
// holds no place.
func (p *part) Instead(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) bool {
	if d.Outcome != room.Moved {
		return false
	}
	v.Setup.Answers(w.Header(), r)
	h, gone := w.Header(), room.Decision{Drop: true}
	feature.LeaveBody(h, r)
	if feature.WantsJSON(r) || feature.Subresource(r) || feature.Unsafe(r) && !feature.SentByAPage(r) {
		v.SetIssued(h, r, &gone)
		feature.WriteProblem(w, r, http.StatusConflict, []byte(`{"title": "Conflict", "status": 409, "detail": "The place in line is on another device."}`), feature.ProblemType)
		return true
	}
	v.SetCookies(h, r, &gone)
	p.page(w, r, http.StatusConflict, passpage.View{State: passpage.Moved, Enter: v.Setup.PathOn(r.Host)})
	return true
}

// page answers with a page about a link.
func (p *part) page(w http.ResponseWriter, r *http.Request, status int, view passpage.View) {
	language := p.pages.Match(feature.HeaderValue(r.Header["Accept-Language"]))
	body, h := p.pages.AppendTo(nil, language, view), w.Header()
	h.Set("Content-Security-Policy", p.pages.ContentSecurityPolicy())
	h.Set("Content-Language", language)
	h.Set("X-Robots-Tag", "noindex")
	reply.ForOne(w, r, status, feature.HTMLType[0], body)
}

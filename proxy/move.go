package proxy

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"go.uber.org/zap"
	"rsc.io/qr"

	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates/passpage"
)

const (
	// linkLasts is for how long a link moves a place.
	linkLasts = 10 * time.Minute
	// movesPerNetwork is how many places a network moves in no time, and again in the time for which the copies of one are void.
	movesPerNetwork = 50
	// picturesPerMinute is how many links of a network are drawn as a QR code.
	picturesPerMinute = 30
)

// move answers requests for the path by which a place moves to another device: it shows somebody who waits a link, and whoever opens the
// link the button that takes the place.
func (g *Gate) move(w http.ResponseWriter, r *http.Request, s *setup) {
	of := s.roomNamed(r.URL.Query().Get("room"))
	token := r.URL.Query().Get("t")
	switch {
	case of == nil || !of.setup.Load().isOn(r.Host):
		g.problem(w, r, http.StatusNotFound, g.languages)
	case r.Method == http.MethodPost && foreign(r):
		g.problem(w, r, http.StatusBadRequest, g.languages)
	case r.Method == http.MethodPost:
		g.takePlace(w, r, s, of)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD, POST")
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
	case token == "":
		g.offerLink(w, r, s, of)
	default:
		rs := of.setup.Load()
		if _, ok := rs.ofLink(token, g.o.Clock()); !ok {
			rs.linkPage(w, r, http.StatusGone, passpage.View{State: passpage.Gone})
			return
		}
		rs.linkPage(w, r, http.StatusOK, passpage.View{State: passpage.Take, Path: movePath(rs.cfg.Name), Token: token})
	}
}

// movePath is the path and query by which places of a room move.
func movePath(room string) string { return ownPaths + "move?room=" + url.QueryEscape(room) }

// offerLink shows somebody who waits the link by which their place moves. It changes nothing. A user of the site, and the holder of a
// pass, have their place on every device in any case.
func (g *Gate) offerLink(w http.ResponseWriter, r *http.Request, s *setup, of *room) {
	visitors, err := g.visitorOf(r, s, of)
	switch {
	case err != nil || len(visitors) == 0:
	case visitors[0].flagged:
		visitors[0].ticket, _ = visitors[0].endlessTicket()
	default:
		visitors[0].ticket, _ = of.queue.Peek(r.Context(), visitors[0].now, visitors[0].request(false, false))
	}
	if err != nil || len(visitors) == 0 || visitors[0].ticket.State != queue.Waiting || visitors[0].subject != (queue.ID{}) || visitors[0].ticket.Moved >= queueroom.MostMoves {
		of.setup.Load().linkPage(w, r, http.StatusConflict, passpage.View{State: passpage.Gone})
		return
	}
	v := &visitors[0]
	link, err := v.link(r)
	var picture string
	if err == nil && g.pictures.perMinute(s.trust.ClientAddr(r), v.now, picturesPerMinute) {
		picture, err = pictureOf(link)
	}
	if err != nil { // which no ticket causes
		v.setup.log.Error("link not made", zap.Error(err))
		g.problem(w, r, http.StatusServiceUnavailable, g.languages)
		return
	}
	v.setup.linkPage(w, r, http.StatusOK, passpage.View{State: passpage.Carry, Link: link, Picture: picture})
}

// link is the link by which the visitor's place moves. That of a visitor in the endless line, who has none, leads nowhere.
func (v *visitor) link(r *http.Request) (string, error) {
	lasts := min(linkLasts, v.room.settings().QueueTicketTTL)
	if v.flagged {
		lasts = 0
	}
	payload := binary.BigEndian.AppendUint64(nil, uint64(v.now.Add(lasts).UnixMilli()))
	payload, err := v.ticket.AppendBinary(payload)
	if err != nil {
		return "", fmt.Errorf("writing a ticket: %w", err)
	}
	sealed, err := v.setup.links.Encode(payload)
	scheme := "http://"
	if v.https {
		scheme = "https://"
	}
	return scheme + r.Host + movePath(v.setup.cfg.Name) + "&t=" + sealed, err
}

// ofLink is the ticket that a link has, if it has not expired.
func (rs *roomSetup) ofLink(token string, now time.Time) (t queue.Ticket, ok bool) {
	payload, _, ok := rs.links.Decode(token)
	if !ok || len(payload) < 8 || uint64(now.UnixMilli()) >= binary.BigEndian.Uint64(payload) {
		return t, false
	}
	return t, t.UnmarshalBinary(payload[8:]) == nil
}

// takePlace moves the place of a link to the device that sends the form, and lets it go on to the room.
func (g *Gate) takePlace(w http.ResponseWriter, r *http.Request, s *setup, of *room) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	rs, now := of.setup.Load(), g.o.Clock()
	t, ok := rs.ofLink(r.PostFormValue("token"), now)
	if !ok {
		rs.linkPage(w, r, http.StatusGone, passpage.View{State: passpage.Gone})
		return
	}
	if !g.mayMove(s.trust.ClientAddr(r), now, of) {
		retryAfter(w.Header(), time.Minute)
		g.problem(w, r, http.StatusTooManyRequests, g.languages)
		return
	}
	left := t
	t, err := of.queue.Move(r.Context(), now, t)
	switch {
	case errors.Is(err, queueroom.ErrMoved):
		rs.linkPage(w, r, http.StatusGone, passpage.View{State: passpage.Gone})
		return
	case err != nil:
		rs.log.Warn("place not moved", zap.Error(err))
		retryAfter(w.Header(), 5*time.Second)
		rs.linkPage(w, r, http.StatusServiceUnavailable, passpage.View{State: passpage.Unavailable})
		return
	}
	of.seats.cutCopies(&left)
	v := visitor{setup: rs, bound: rs.binder.bind(r, s.trust), https: s.trust.Scheme(r) == "https"}
	value, err := v.seal(&t)
	if err != nil { // which no ticket causes
		rs.log.Error("ticket not issued", zap.Error(err))
		g.problem(w, r, http.StatusServiceUnavailable, g.languages)
		return
	}
	h := w.Header()
	h["Set-Cookie"], h["Cache-Control"] = append(h["Set-Cookie"], value), noStore
	h.Set("Referrer-Policy", "strict-origin")
	h.Set("Location", rs.pathOn(r.Host))
	w.WriteHeader(http.StatusSeeOther)
}

// mayMove says whether the network of an address may move another place of a room: an attempt, and a part of the moves that the room has.
func (g *Gate) mayMove(addr netip.Addr, now time.Time, of *room) bool {
	settings := of.settings()
	each := max(settings.QueueTicketTTL, settings.SessionDuration) / movesPerNetwork
	return g.attempts.perMinute(addr, now, passes.AttemptsPerMinute) && g.moves.spend(addr, now, each, movesPerNetwork)
}

// moved answers the device that a place has moved from. The page has its browser forget the ticket, and every answer the
// admission token; before, the ticket holds no place.
func (g *Gate) moved(w http.ResponseWriter, r *http.Request, v visitor) {
	v.setup.answers(w.Header(), r)
	h, gone := w.Header(), queueroom.Decision{Drop: true}
	if wantsJSON(r) || subresource(r) || unsafe(r) && !sentByAPage(r) {
		if cookies := v.appendAdmission(h["Set-Cookie"], r, &gone); cookies != nil {
			h["Set-Cookie"] = cookies
		}
		leaveBody(h, r)
		g.writeProblem(w, r, http.StatusConflict, []byte(`{"title": "Conflict", "status": 409, "detail": "The place in line is on another device."}`), problemType)
		return
	}
	leaveBody(h, r)
	v.setCookies(h, r, &gone)
	v.setup.linkPage(w, r, http.StatusConflict, passpage.View{State: passpage.Moved, Enter: v.setup.pathOn(r.Host)})
}

// linkPage answers with a page about a link.
func (rs *roomSetup) linkPage(w http.ResponseWriter, r *http.Request, status int, p passpage.View) {
	language := rs.linkPages.Match(headerValue(r.Header["Accept-Language"]))
	body, h := rs.linkPages.AppendTo(nil, language, p), w.Header()
	h.Set("Content-Security-Policy", rs.linkPages.ContentSecurityPolicy())
	h.Set("Content-Language", language)
	h.Set("X-Robots-Tag", "noindex")
	reply.ForOne(w, r, status, htmlType[0], body)
}

// pictureOf is a text as a QR code: an SVG in a URL with the scheme data.
func pictureOf(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("drawing a link: %w", err)
	}
	const quiet = 4 // modules around the code (ISO 18004)
	b := fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%[1]dv%[1]dH0z"/><path stroke="#000" d="`, code.Size+2*quiet)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from { // a line through the middle of the modules
				b = strconv.AppendInt(append(b, 'M'), int64(from+quiet), 10)
				b = strconv.AppendInt(append(b, ' '), int64(y+quiet), 10)
				b = strconv.AppendInt(append(b, ".5h"...), int64(x-from), 10)
			}
		}
	}
	b = append(b, `"/></svg>`...)
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b), nil
}

package proxy

import (
	"encoding/json"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// sessionJSON is how the caller stands in one room.
type sessionJSON struct {
	Room      string          `json:"room"`
	Status    string          `json:"status"` // waiting, active or none
	Waiting   json.RawMessage `json:"cfWaitingRoom,omitempty"`
	Accepted  *time.Time      `json:"acceptedAt,omitempty"` // of an active one, where it is known
	ExpiresAt *time.Time      `json:"expiresAt,omitempty"`
}

// session tells a visitor's page, or the site's backend with the visitor's
// cookies, how the visitor stands: in the room that the query names with room, or
// that guards its path on this host, or else in each whose ticket they bring. With
// renew=1 they check in, or their session is renewed; nobody is let in.
func (g *Gate) session(w http.ResponseWriter, r *http.Request, s *setup) {
	of, told, status := s.asked(r)
	if status != 0 {
		g.problem(w, r, status, g.languages)
		return
	}
	visitors, err := g.visitors(r, s, of, told)
	if err != nil {
		g.problem(w, r, http.StatusRequestHeaderFieldsTooLarge, g.languages)
		return
	}
	renew, list := r.URL.Query().Get("renew") == "1", make([]sessionJSON, 0, len(visitors))
	for _, v := range visitors {
		d := g.stands(w, r, v, renew)
		list = append(list, v.room.tellSession(&d))
	}
	w.Header()["Vary"], w.Header()["X-Content-Type-Options"] = varies, noSniff
	reply(w, map[string]any{"rooms": list})
}

// asked is the room that a question about a session is about, as visitors wants it,
// or the status that refuses the question.
func (s *setup) asked(r *http.Request) (of *room, told bool, status int) {
	query := r.URL.Query()
	switch name, path := query.Get("room"), query.Get("path"); {
	case name != "" && path != "":
		return nil, false, http.StatusBadRequest
	case name != "":
		if of = s.called(name); of == nil || of.line == nil {
			return nil, false, http.StatusNotFound
		}
		return of, true, 0
	case path != "":
		if of, told = s.guarding(r.Host, path); !told {
			return nil, false, http.StatusNotFound
		}
		return of, true, 0
	case len(s.places) == 1 && s.places[0].family == nil:
		return s.places[0], true, 0
	}
	return nil, false, 0
}

// stands returns the caller's ticket and place as they are, or as they are once
// renewed.
func (g *Gate) stands(w http.ResponseWriter, r *http.Request, v visitor, renew bool) (d queueroom.Decision) {
	q := v.request(hidden(r), false)
	if !renew || v.room.line.queue.Suspended() {
		d.Ticket, d.Place = v.room.line.queue.Peek(r.Context(), v.now, q)
		return d
	}
	d = v.room.line.queue.CheckIn(r.Context(), v.now, q)
	if d.Ticket.State == queue.None {
		return d
	}
	v.room.note(d)
	g.setTicket(w.Header(), v, &d)
	// What their next request may do, they need not do sooner.
	d.Ticket.RefreshInterval = max(d.Ticket.RefreshInterval, v.room.line.queue.Settings().RefreshInterval)
	return d
}

// tellSession tells how somebody stands.
func (r *room) tellSession(d *queueroom.Decision) sessionJSON {
	j := sessionJSON{Room: r.cfg.Name, Status: "none"}
	switch t := &d.Ticket; t.State {
	case queue.Waiting:
		j.Status, j.Waiting = "waiting", r.tellWaiting(d)
	case queue.Accepted:
		expires := t.Expires.Time()
		j.Status, j.ExpiresAt = "active", &expires
		if t.AcceptedAt != 0 {
			at := t.AcceptedAt.Time()
			j.Accepted = &at
		}
	}
	return j
}

// tellWaiting is the object that the JSON of somebody who waits has in it.
func (r *room) tellWaiting(d *queueroom.Decision) json.RawMessage {
	page, own := r.waiting(d, "")
	var told struct {
		Room json.RawMessage `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(page.AppendTo(nil, own), &told); err != nil {
		r.log.Error("numbers not told", zap.Error(err))
	}
	return told.Room
}

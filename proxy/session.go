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
	of, found, status := s.roomAskedAbout(r)
	if status != 0 {
		g.problem(w, r, status, g.languages)
		return
	}
	visitors, err := g.visitors(r, s, of, found)
	if err != nil {
		g.problem(w, r, http.StatusRequestHeaderFieldsTooLarge, g.languages)
		return
	}
	renew, list := r.URL.Query().Get("renew") == "1", make([]sessionJSON, 0, len(visitors))
	for _, v := range visitors {
		d := v.present(w, r, renew)
		list = append(list, v.describe(&d))
	}
	w.Header()["Vary"], w.Header()["X-Content-Type-Options"] = varies, noSniff
	reply(w, map[string]any{"rooms": list})
}

// roomAskedAbout returns the room that a question about a session is about, as
// visitors wants it, or the status that refuses the question.
func (s *setup) roomAskedAbout(r *http.Request) (of *room, found bool, status int) {
	query := r.URL.Query()
	switch name, path := query.Get("room"), query.Get("path"); {
	case name != "" && path != "":
		return nil, false, http.StatusBadRequest
	case name != "":
		if of = s.roomNamed(name); of == nil {
			return nil, false, http.StatusNotFound
		}
		return of, true, 0
	case path != "":
		if of, found = s.roomAt(r.Host, path); !found {
			return nil, false, http.StatusNotFound
		}
		return of, true, 0
	case len(s.guards) == 1:
		of = s.guards[0].known("") // none of a family
	}
	return of, of != nil, 0
}

// present returns the visitor's ticket and place as they are, or as they are once
// renewed.
func (v *visitor) present(w http.ResponseWriter, r *http.Request, renew bool) (d queueroom.Decision) {
	q := v.request(hidden(r), false)
	if !renew || v.room.queue.Suspended() {
		d.Ticket, d.Place = v.room.queue.Peek(r.Context(), v.now, q)
		return d
	}
	d = v.room.queue.CheckIn(r.Context(), v.now, q)
	if d.Ticket.State == queue.None {
		return d
	}
	v.room.countDecision(d)
	v.setCookies(w.Header(), r, &d)
	// What their next request may do, they need not do sooner.
	d.Ticket.RefreshInterval = max(d.Ticket.RefreshInterval, v.room.queue.Settings().RefreshInterval)
	return d
}

// describe returns what the visitor's page is told of them.
func (v *visitor) describe(d *queueroom.Decision) sessionJSON {
	j := sessionJSON{Room: v.setup.cfg.Name, Status: "none"}
	switch t := &d.Ticket; t.State {
	case queue.Waiting:
		j.Status, j.Waiting = "waiting", v.setup.waitingJSON(v.room.queue.Numbers(), d)
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

// waitingJSON is the object that the JSON of a visitor who waits has in it.
func (rs *roomSetup) waitingJSON(n *queueroom.Numbers, d *queueroom.Decision) json.RawMessage {
	page, values := rs.waiting(n, d, "")
	var object struct {
		Room json.RawMessage `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(page.AppendTo(nil, values), &object); err != nil {
		rs.log.Error("numbers not sent", zap.Error(err))
	}
	return object.Room
}

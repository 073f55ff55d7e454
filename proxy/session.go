package proxy

import (
	"encoding/json"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// sessionJSON is how a visitor stands in one room.
type sessionJSON struct {
	Room      string          `json:"room"`
	Status    string          `json:"status"` // waiting, active or none
	Waiting   json.RawMessage `json:"cfWaitingRoom,omitempty"`
	Accepted  *time.Time      `json:"acceptedAt,omitempty"` // of an active one, where it is known
	ExpiresAt *time.Time      `json:"expiresAt,omitempty"`
	Held      bool            `json:"isHeld,omitempty"` // of an active one: those who are in are held
}

// session tells a visitor's page how the visitor stands in which rooms; the site's
// backend may ask with the visitor's cookies. With renew=1 the visitor checks in, or
// their session is renewed; nobody is let in. With require=active the answer is 403 to
// those whom a room would not let pass.
func (g *Gate) session(w http.ResponseWriter, r *http.Request, s *setup) {
	query := r.URL.Query()
	renew := query.Get("renew") == "1" && !speculative(r)
	if !renew {
		g.spareAside(r, s)
	}
	visitors, status := g.visitorsAsked(r, s)
	if require := query.Get("require"); require != "" && require != "active" {
		status = http.StatusBadRequest
	}
	if status != http.StatusOK {
		g.problem(w, r, status, g.languages)
		return
	}
	list, decisions := make([]sessionJSON, 0, len(visitors)), make([]queueroom.Decision, 0, len(visitors))
	for _, v := range visitors {
		d := v.present(w, r, renew)
		list, decisions = append(list, v.describe(&d)), append(decisions, d)
	}
	if renew {
		g.spareRenewal(r, s.trust, visitors, decisions)
	}
	shareAbout(visitors, w.Header(), r)
	vary(w.Header())
	w.Header()["X-Content-Type-Options"] = noSniff
	if query.Get("require") != "" && !passAll(visitors, list) {
		status = http.StatusForbidden
	}
	reply.JSONWith(w, status, map[string]any{"rooms": list})
	for i := range visitors {
		g.forgetUnanswered(w, r, &visitors[i], &decisions[i])
	}
}

// passAll says whether somebody passes all the rooms that they asked about: they are in and not held, or the room is suspended and
// lets everybody pass.
func passAll(visitors []visitor, list []sessionJSON) bool {
	for i := range list {
		if in := list[i].Status == "active" && !list[i].Held; !in && !visitors[i].room.queue.Suspended() {
			return false
		}
	}
	return len(list) > 0
}

// visitorsAsked returns the visitor of the room that a question about a session is
// about: the query names it with room, or a path that it guards on this host. A question
// that names neither is about the only room, or about each whose ticket came along. The
// status refuses the question if it is not 200.
func (g *Gate) visitorsAsked(r *http.Request, s *setup) (visitors []visitor, status int) {
	var err error
	switch name, path := r.URL.Query().Get("room"), r.URL.Query().Get("path"); {
	case name != "" && path != "":
		return nil, http.StatusBadRequest
	case name != "":
		of := s.roomNamed(name)
		if of == nil {
			return nil, http.StatusNotFound
		}
		visitors, err = g.visitorOf(r, s, of)
	case path != "":
		of, found := s.roomAt(r.Host, path)
		if !found {
			return nil, http.StatusNotFound
		}
		visitors, err = g.visitorOf(r, s, of)
	case len(s.guards) == 1 && s.guards[0].known("") != nil:
		visitors, err = g.visitorOf(r, s, s.guards[0].known(""))
	default:
		visitors, err = g.ticketHolders(r, s)
	}
	if err != nil {
		return nil, http.StatusRequestHeaderFieldsTooLarge
	}
	return visitors, http.StatusOK
}

// present returns the visitor's ticket and place; none for those whom the door turns away. If renew is set, they check in first,
// or their session is renewed.
func (v *visitor) present(w http.ResponseWriter, r *http.Request, renew bool) (d queueroom.Decision) {
	q := v.request(hidden(r), v.takesNoPlace(r))
	switch {
	case v.flagged:
		return v.presentEndless(w, r, renew)
	case v.uninvited:
		return d
	}
	if !renew || v.room.queue.Suspended() {
		d.Ticket, d.Place = v.room.queue.Peek(r.Context(), v.now, q)
		return d
	}
	d = v.room.queue.CheckIn(r.Context(), v.now, q)
	if d.Ticket.State == queue.None {
		return d
	}
	v.room.CountDecision(d)
	v.setCookies(w.Header(), r, &d)
	// A check-in counts for the whole refresh interval: their next need not come sooner.
	d.Ticket.RefreshInterval = max(d.Ticket.RefreshInterval, v.room.queue.Settings().RefreshInterval)
	return d
}

// presentEndless is present of a visitor in the endless line.
func (v *visitor) presentEndless(w http.ResponseWriter, r *http.Request, renew bool) (d queueroom.Decision) {
	if t, _ := v.endlessTicket(); t.State == queue.None && !renew {
		return d
	}
	d = v.endlessPlace()
	if renew {
		v.setCookies(w.Header(), r, &d)
	}
	return d
}

// describe returns what the visitor's page is told of their ticket and place.
func (v *visitor) describe(d *queueroom.Decision) sessionJSON {
	j := sessionJSON{Room: v.setup.cfg.Name, Status: "none"}
	switch t := &d.Ticket; {
	case d.Outcome == queueroom.Moved: // they have nothing here
	case t.State == queue.Waiting:
		j.Status, j.Waiting = "waiting", v.setup.waitingJSON(v.room.queue, v.now, d)
	case t.State == queue.Accepted:
		expires := t.Expires.Time()
		j.Status, j.ExpiresAt, j.Held = "active", &expires, v.room.queue.Holds()
		if t.AcceptedAt != 0 {
			at := t.AcceptedAt.Time()
			j.Accepted = &at
		}
	}
	return j
}

// waitingJSON is the object that the JSON of a visitor who waits has in it at now.
func (rs *roomSetup) waitingJSON(r *queueroom.Room, now time.Time, d *queueroom.Decision) json.RawMessage {
	page, values := rs.waiting(r, now, d, pageKey{})
	var object struct {
		Room json.RawMessage `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(page.AppendTo(nil, values), &object); err != nil {
		rs.log.Error("numbers not sent", zap.Error(err))
	}
	return object.Room
}

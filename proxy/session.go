package proxy

import (
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/queue"
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
// renew=1 it is a request of theirs as any other: a check-in, or a renewal.
func (g *Gate) session(w http.ResponseWriter, r *http.Request, s *setup) {
	rooms, status := s.sessionRooms(r)
	if status != 0 {
		g.problem(w, r, status, g.languages)
		return
	}
	renew := r.URL.Query().Get("renew") == "1"
	list := []sessionJSON{}
	for room := range rooms {
		v, err := room.visitor(r, queue.At(g.o.Clock()), s.trust)
		if err != nil {
			g.problem(w, r, http.StatusRequestHeaderFieldsTooLarge, room.set.Languages)
			return
		}
		d := g.stands(w, r, v, renew)
		list = append(list, room.tellSession(&d))
	}
	w.Header()["Vary"], w.Header()["X-Content-Type-Options"] = varies, noSniff
	reply(w, map[string]any{"rooms": list})
}

// sessionRooms are the rooms that a question about a session is about, or the
// status that refuses it.
func (s *setup) sessionRooms(r *http.Request) (rooms iter.Seq[*room], status int) {
	query := r.URL.Query()
	switch name, path := query.Get("room"), query.Get("path"); {
	case name != "" && path != "":
		return nil, http.StatusBadRequest
	case name != "":
		of := s.called(name)
		if of == nil || of.line == nil {
			return nil, http.StatusNotFound
		}
		return only(of), 0
	case path != "":
		of, ok := s.guarding(r.Host, path)
		if !ok {
			return nil, http.StatusNotFound
		}
		return only(of), 0
	}
	return func(yield func(*room) bool) {
		for room := range s.rooms {
			t, _, err := room.ticket(r)
			if (err != nil || t.State != queue.None || len(s.places) == 1 && room.family == nil) && !yield(room) {
				return
			}
		}
	}, 0
}

// stands returns the caller's ticket and place as they are, or as they are once
// renewed.
func (g *Gate) stands(w http.ResponseWriter, r *http.Request, v visitor, renew bool) (d queue.Decision) {
	if !renew || v.room.line.queue.Suspended() {
		d.Ticket, d.Place = v.room.line.queue.Peek(r.Context(), v.now, v.request(false, false))
		return d
	}
	d = v.room.line.queue.Visit(r.Context(), v.now, v.request(hidden(r), false))
	v.room.note(d)
	g.setTicket(w.Header(), v, &d)
	return d
}

// tellSession tells how somebody stands.
func (r *room) tellSession(d *queue.Decision) sessionJSON {
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
func (r *room) tellWaiting(d *queue.Decision) json.RawMessage {
	page, own := r.waiting(d, "")
	var told struct {
		Room json.RawMessage `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(page.AppendTo(nil, own), &told); err != nil {
		r.log.Error("numbers not told", zap.Error(err))
	}
	return told.Room
}

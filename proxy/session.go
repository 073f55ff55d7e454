package proxy

import (
	"encoding/json"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
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
func (g *Gate) session(w http.ResponseWriter, r *http.Request) {
	s := g.current.Load()
	query := r.URL.Query()
	renew := query.Get("renew") == "1" && !feature.Speculative(r)
	if !renew {
		g.witnesses.aside(r)
	}
	visitors, status := s.visitorsAsked(r, g.o.Clock())
	if require := query.Get("require"); require != "" && require != "active" {
		status = http.StatusBadRequest
	}
	if status != http.StatusOK {
		g.problem(w, r, status, g.languages)
		return
	}
	list, decisions := make([]sessionJSON, 0, len(visitors)), make([]room.Decision, 0, len(visitors))
	for _, v := range visitors {
		d := present(w, r, v, renew)
		list, decisions = append(list, describe(v, &d)), append(decisions, d)
	}
	if renew {
		g.witnesses.renewal(r, visitors, decisions)
	}
	shareAbout(visitors, w.Header(), r)
	feature.Vary(w.Header())
	w.Header()["X-Content-Type-Options"] = feature.NoSniff
	if query.Get("require") != "" && !passAll(visitors, list) {
		status = http.StatusForbidden
	}
	reply.JSONWith(w, status, map[string]any{"rooms": list})
	for i := range visitors {
		forgetUnanswered(w, r, visitors[i], &decisions[i])
	}
}

// passAll says whether somebody passes all the rooms that they asked about: they are in and not
// held, or the room is suspended and lets everybody pass.
func passAll(visitors []*feature.Visit, list []sessionJSON) bool {
	for i := range list {
		if in := list[i].Status == "active" && !list[i].Held; !in && !visitors[i].Room.Queue.Suspended() {
			return false
		}
	}
	return len(list) > 0
}

// present returns the visitor's ticket and place; none for those whom the door turns away. If renew
// is set, they check in first, or their session is renewed.
func present(w http.ResponseWriter, r *http.Request, v *feature.Visit, renew bool) (d room.Decision) {
	q := v.Request(feature.Hidden(r), v.TakesNoPlace(r))
	switch {
	case v.Endless != nil:
		return presentEndless(w, r, v, renew)
	case v.Shut:
		return d
	}
	if !renew || v.Room.Queue.Suspended() {
		d.Ticket, d.Place = v.Room.Queue.Peek(r.Context(), v.Now, q)
		return d
	}
	d = v.Room.Queue.CheckIn(r.Context(), v.Now, q)
	if d.Ticket.State == queue.None {
		return d
	}
	v.Count(&d)
	v.SetCookies(w.Header(), r, &d)
	// A check-in counts for the whole refresh interval: their next need not come sooner.
	d.Ticket.RefreshInterval = max(d.Ticket.RefreshInterval, v.Room.Queue.Settings().RefreshInterval)
	return d
}

// presentEndless is present of a visitor in the endless line.
func presentEndless(w http.ResponseWriter, r *http.Request, v *feature.Visit, renew bool) (d room.Decision) {
	if t, _ := v.EndlessTicket(); t.State == queue.None && !renew {
		return d
	}
	d = v.EndlessPlace()
	if renew {
		v.SetCookies(w.Header(), r, &d)
	}
	return d
}

// describe returns what the visitor's page is told of their ticket and place.
func describe(v *feature.Visit, d *room.Decision) sessionJSON {
	j := sessionJSON{Room: v.Setup.Config.Name, Status: "none"}
	switch t := &d.Ticket; {
	case d.Outcome == room.Moved: // they have nothing here
	case t.State == queue.Waiting:
		j.Status = "waiting"
		j.Waiting, _ = waitingJSON(v.Setup, v.Room.Queue, v.Now, d)
	case t.State == queue.Accepted:
		expires := t.Expires.Time()
		j.Status, j.ExpiresAt, j.Held = "active", &expires, v.Room.Queue.HoldsActive()
		if t.AcceptedAt != 0 {
			at := t.AcceptedAt.Time()
			j.Accepted = &at
		}
	}
	return j
}

// waitingJSON is the object that the JSON of a visitor who waits has in it at now, and says whether
// they are too far for a stream of events.
func waitingJSON(rs *feature.Setup, r *room.Room, now time.Time, d *room.Decision) (object json.RawMessage, far bool) {
	page, values := rs.Pages.Waiting(r, now, d, pages.Key{})
	var answer struct {
		Room json.RawMessage `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(page.AppendTo(nil, values), &answer); err != nil {
		rs.Log.Error("numbers not sent", zap.Error(err))
	}
	return answer.Room, page.Far
}

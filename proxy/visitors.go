package proxy

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// visitorsJSON is who is in a room and who is in its exact line, the first of each.
type visitorsJSON struct {
	Active       []visitorJSON `json:"active"`
	Waiting      []visitorJSON `json:"waiting"`
	WaitingKnown bool          `json:"waitingKnown"` // by name: in an exact line
	Truncated    bool          `json:"truncated"`    // there may be more
}

// visitorJSON is a visitor as operators are told of them; of the fields of the
// other status there are none.
type visitorJSON struct {
	ID        string     `json:"id"`
	Status    string     `json:"status,omitempty"` // active or waiting, of a single one
	Accepted  *time.Time `json:"acceptedAt,omitempty"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	*waiterJSON
}

// waiterJSON is a place in an exact line.
type waiterJSON struct {
	Position     int       `json:"position"`
	TicketNumber uint64    `json:"ticketNumber"`
	Priority     int16     `json:"priority"`
	Until        time.Time `json:"until"` // the place is lost without a check-in
}

func describeSeat(s queue.Seat) visitorJSON {
	accepted, expires := s.AcceptedAt.Time(), s.Expires.Time()
	return visitorJSON{ID: s.ID.String(), Accepted: &accepted, ExpiresAt: &expires}
}

func describeWaiter(w queue.Waiter) visitorJSON {
	return visitorJSON{ID: w.ID.String(), waiterJSON: &waiterJSON{
		Position: w.Ahead + 1, TicketNumber: w.Number, Priority: w.Priority, Until: w.Until.Time(),
	}}
}

const storeAway = "The store does not answer."

func (g *Gate) getVisitors(w http.ResponseWriter, q *http.Request, r *room) {
	roll, err := r.queue.Roll(q.Context())
	if err != nil {
		g.storeFailed(w, r, err)
		return
	}
	list := visitorsJSON{
		Active: []visitorJSON{}, Waiting: []visitorJSON{}, WaitingKnown: r.hasLine(),
		Truncated: len(roll.Seated) == queue.MaxRoll || len(roll.Line) == queue.MaxRoll,
	}
	for _, s := range roll.Seated {
		list.Active = append(list.Active, describeSeat(s))
	}
	for _, in := range roll.Line {
		list.Waiting = append(list.Waiting, describeWaiter(in))
	}
	reply(w, list)
}

func (g *Gate) storeFailed(w http.ResponseWriter, r *room, err error) {
	r.setup.Load().log.Error("visitors not known", zap.Error(err))
	refuse(w, http.StatusServiceUnavailable, storeAway)
}

// hasLine says whether those who wait in the room are known by name.
func (r *room) hasLine() bool { return r.settings().Method.HasExactLine() }

// withVisitor finds the id that the path names: in hexadecimal, or as a subject.
func (g *Gate) withVisitor(next func(http.ResponseWriter, *http.Request, *room, queue.ID)) http.HandlerFunc {
	return g.withRoom(func(w http.ResponseWriter, q *http.Request, r *room) {
		var id queue.ID
		text := q.PathValue("id")
		if subject, ok := strings.CutPrefix(text, "subject:"); ok && subject != "" {
			next(w, q, r, queueroom.SubjectID(r.queue.Name(), subject))
			return
		}
		if b, err := hex.DecodeString(text); err == nil && len(b) == len(id) {
			next(w, q, r, queue.ID(b))
			return
		}
		refuse(w, http.StatusNotFound, "An id is 32 hexadecimal digits, or subject: and the subject's name.")
	})
}

// renewVisitor renews somebody's session, or makes their check-in, and tells how they
// stand then.
func (g *Gate) renewVisitor(w http.ResponseWriter, q *http.Request, r *room, id queue.ID) {
	if err := r.queue.Renew(q.Context(), g.o.Clock(), id); err != nil {
		g.storeFailed(w, r, err)
		return
	}
	g.getVisitor(w, q, r, id)
}

// getVisitor tells how somebody stands.
func (g *Gate) getVisitor(w http.ResponseWriter, q *http.Request, r *room, id queue.ID) {
	roll, err := r.queue.Roll(q.Context(), id)
	switch {
	case err != nil:
		g.storeFailed(w, r, err)
	case len(roll.Seated) > 0:
		v := describeSeat(roll.Seated[0])
		v.Status = "active"
		reply(w, v)
	case len(roll.Line) > 0:
		v := describeWaiter(roll.Line[0])
		v.Status = "waiting"
		reply(w, v)
	default:
		r.noVisitor(w)
	}
}

func (r *room) noVisitor(w http.ResponseWriter) {
	detail := "Nobody of this id is in the room or in its line."
	if !r.hasLine() {
		detail = "Nobody of this id is in the room. Those who wait are known by name in an exact line only."
	}
	refuse(w, http.StatusNotFound, detail)
}

// patchVisitor gives somebody in an exact line a priority.
func (g *Gate) patchVisitor(w http.ResponseWriter, q *http.Request, r *room, id queue.ID) {
	body, ok := readPatch(w, q)
	if !ok {
		return
	}
	var change struct {
		Priority *int16 `json:"priority"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&change) != nil || change.Priority == nil || decoder.More() {
		refuse(w, http.StatusUnprocessableEntity, `Nothing was changed: send {"priority": n}, a whole number from -32768 to 32767.`)
		return
	}
	if !r.hasLine() {
		refuse(w, http.StatusConflict, "Nothing was changed: the room has no exact line (queueing_method line), and so no priorities.")
		return
	}
	roll, err := r.queue.Roll(q.Context(), id)
	switch {
	case err == nil && len(roll.Line) == 0:
		refuse(w, http.StatusNotFound, "Nobody of this id is in the line.")
		return
	case err == nil:
		err = r.queue.Prefer(q.Context(), g.o.Clock(), id, *change.Priority)
	}
	if err != nil {
		g.storeFailed(w, r, err)
		return
	}
	r.setup.Load().log.Info("visitor given a priority", zap.Int16("priority", *change.Priority), zap.String("by", q.RemoteAddr))
	g.getVisitor(w, q, r, id)
}

// deleteVisitor ends a session, or takes somebody out of an exact line.
func (g *Gate) deleteVisitor(w http.ResponseWriter, q *http.Request, r *room, id queue.ID) {
	found, err := r.queue.Remove(q.Context(), g.o.Clock(), id)
	switch {
	case err != nil:
		g.storeFailed(w, r, err)
	case !found:
		r.noVisitor(w)
	default:
		r.seats.cut(id)
		r.setup.Load().log.Info("visitor removed", zap.String("by", q.RemoteAddr))
		w.WriteHeader(http.StatusNoContent)
	}
}

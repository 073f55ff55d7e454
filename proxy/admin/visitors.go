package admin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// visitorsJSON is who is in a room and who is in its exact line, the first of each.
type visitorsJSON struct {
	Active       []visitorJSON `json:"active"`
	Waiting      []visitorJSON `json:"waiting"`
	WaitingKnown bool          `json:"waitingKnown"` // by name: in an exact line
	Truncated    bool          `json:"truncated"`    // there may be more
}

// visitorJSON is a visitor of a room. One who is active has no place in line, and one
// who waits has no session.
type visitorJSON struct {
	ID        string          `json:"id"`
	Label     string          `json:"label,omitempty"`  // what the site calls them
	Data      json.RawMessage `json:"data,omitempty"`   // what the site says of them
	Status    string          `json:"status,omitempty"` // active or waiting, of a single one
	Accepted  *time.Time      `json:"acceptedAt,omitempty"`
	ExpiresAt *time.Time      `json:"expiresAt,omitempty"`
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
	return visitorJSON{ID: s.ID.String(), Label: LabelOf(s.Note), Data: json.RawMessage(s.Note), Accepted: &accepted, ExpiresAt: &expires}
}

func describeWaiter(w queue.Waiter) visitorJSON {
	return visitorJSON{ID: w.ID.String(), Label: LabelOf(w.Note), Data: json.RawMessage(w.Note), waiterJSON: &waiterJSON{
		Position: w.Ahead + 1, TicketNumber: w.Number, Priority: w.Priority, Until: w.Until.Time(),
	}}
}

const storeAway = "The store does not answer."

var errStoreAway = errors.New("the store does not answer")

func (a *api) getVisitors(w http.ResponseWriter, r *http.Request, of Room) {
	roster, err := of.Queue().Everybody(r.Context())
	if err != nil {
		a.storeFailed(w, of, err)
		return
	}
	list := visitorsJSON{
		Active: []visitorJSON{}, Waiting: []visitorJSON{}, WaitingKnown: hasLine(of),
		Truncated: roster.Truncated,
	}
	for _, s := range roster.Seated {
		list.Active = append(list.Active, describeSeat(s))
	}
	for _, in := range roster.Line {
		list.Waiting = append(list.Waiting, describeWaiter(in))
	}
	reply.JSON(w, list)
}

func (a *api) storeFailed(w http.ResponseWriter, of Room, err error) {
	a.log(of).Error("visitors not known", zap.Error(err))
	reply.Problem(w, http.StatusServiceUnavailable, storeAway)
}

// hasLine says whether those who wait in the room are known by name.
func hasLine(of Room) bool { return of.Queue().Settings().Method.HasExactLine() }

// withVisitor finds the id that the path names: in hexadecimal, as a subject, or by the support code
// of somebody who is in, or in an exact line.
func (a *api) withVisitor(next func(http.ResponseWriter, *http.Request, Room, queue.ID)) http.HandlerFunc {
	return a.withRoom(func(w http.ResponseWriter, r *http.Request, of Room) {
		text := r.PathValue("id")
		if id, ok := idOf(of, text); ok {
			next(w, r, of, id)
			return
		}
		code, isCode := strings.CutPrefix(text, "code:")
		if !isCode {
			reply.Problem(w, http.StatusNotFound, "An id is 32 hexadecimal digits, subject: and the subject's name, or code: and a support code.")
			return
		}
		id, found, err := a.idBehind(r.Context(), of, code)
		switch {
		case err != nil:
			a.storeFailed(w, of, err)
		case !found:
			noVisitor(w, of)
		default:
			next(w, r, of, id)
		}
	})
}

// idOf is the id that a text names: in hexadecimal, or as a subject.
func idOf(of Room, text string) (id queue.ID, ok bool) {
	if subject, ok := strings.CutPrefix(text, "subject:"); ok && subject != "" {
		return room.SubjectID(of.Queue().Name(), subject), true
	}
	if b, err := hex.DecodeString(text); err == nil && len(b) == len(id) {
		return queue.ID(b), true
	}
	return id, false
}

// idBehind is the id of somebody who is in, or in an exact line, by their support code.
func (a *api) idBehind(ctx context.Context, of Room, code string) (id queue.ID, found bool, err error) {
	if of.Queue().StoreFailing() {
		return id, false, errStoreAway
	}
	roster, err := of.Queue().Everybody(ctx)
	if err != nil {
		return id, false, err
	}
	code, _ = CodeIn(code)
	is := func(id queue.ID) bool { return of.SupportCode([8]byte(id[:8])) == code }
	for _, s := range roster.Seated {
		if is(s.ID) {
			return s.ID, true, nil
		}
	}
	for _, in := range roster.Line {
		if is(in.ID) {
			return in.ID, true, nil
		}
	}
	return id, false, nil
}

// renewVisitor renews somebody's session, or makes their check-in, and tells how they
// stand then.
func (a *api) renewVisitor(w http.ResponseWriter, r *http.Request, of Room, id queue.ID) {
	if err := of.Queue().Renew(r.Context(), a.Clock(), id); err != nil {
		a.storeFailed(w, of, err)
		return
	}
	a.noteVisitor(r, of, visitorRenewed, id)
	a.getVisitor(w, r, of, id)
}

// getVisitor tells how somebody stands.
func (a *api) getVisitor(w http.ResponseWriter, r *http.Request, of Room, id queue.ID) {
	roster, err := of.Queue().Roster(r.Context(), id)
	switch {
	case err != nil:
		a.storeFailed(w, of, err)
	case len(roster.Seated) > 0:
		v := describeSeat(roster.Seated[0])
		v.Status = "active"
		reply.JSON(w, v)
	case len(roster.Line) > 0:
		v := describeWaiter(roster.Line[0])
		v.Status = "waiting"
		reply.JSON(w, v)
	default:
		noVisitor(w, of)
	}
}

func noVisitor(w http.ResponseWriter, of Room) {
	detail := "Nobody of this id is in the room or in its line."
	if !hasLine(of) {
		detail = "Nobody of this id is in the room. Those who wait are known by name in an exact line only."
	}
	reply.Problem(w, http.StatusNotFound, detail)
}

// patchVisitor gives somebody in an exact line a priority.
func (a *api) patchVisitor(w http.ResponseWriter, r *http.Request, of Room, id queue.ID) {
	body, ok := ReadChange(w, r)
	if !ok {
		return
	}
	priority, ok := parsePriority(body)
	if !ok {
		reply.Problem(w, http.StatusUnprocessableEntity, `Nothing was changed: send {"priority": n}, a whole number from -32768 to 32767.`)
		return
	}
	if !hasLine(of) {
		reply.Problem(w, http.StatusConflict, "Nothing was changed: the room has no exact line (queueing_method line), and so no priorities.")
		return
	}
	found, err := a.prefer(r.Context(), of, id, priority)
	if found && err == nil && priority > 0 {
		err = of.NoteFavour(r.Context(), a.Clock(), a.by(r))
	}
	switch {
	case err != nil:
		a.storeFailed(w, of, err)
	case !found:
		reply.Problem(w, http.StatusNotFound, "Nobody of this id is in the line.")
	default:
		a.log(of).Info("visitor given a priority", zap.Int16("priority", priority), zap.String("by", a.by(r)))
		a.getVisitor(w, r, of, id)
	}
}

// parsePriority reads the change of a visitor: {"priority": n}.
func parsePriority(body []byte) (priority int16, ok bool) {
	var change struct {
		Priority *int16 `json:"priority"`
	}
	if !Decode(body, &change) || change.Priority == nil {
		return 0, false
	}
	return *change.Priority, true
}

// prefer gives a visitor a priority, unless they are not in the line.
func (a *api) prefer(ctx context.Context, of Room, id queue.ID, priority int16) (found bool, err error) {
	roster, err := of.Queue().Roster(ctx, id)
	if err != nil || len(roster.Line) == 0 {
		return false, err
	}
	return true, of.Queue().Prefer(ctx, a.Clock(), id, priority)
}

// deleteVisitor ends a session, or takes somebody out of an exact line.
func (a *api) deleteVisitor(w http.ResponseWriter, r *http.Request, of Room, id queue.ID) {
	found, err := of.Queue().Remove(r.Context(), a.Clock(), id)
	switch {
	case err != nil:
		a.storeFailed(w, of, err)
	case !found:
		noVisitor(w, of)
	default:
		of.Disconnect(id)
		a.noteVisitor(r, of, visitorRemoved, id)
		a.log(of).Info(visitorRemoved, zap.String("by", a.by(r)))
		w.WriteHeader(http.StatusNoContent)
	}
}

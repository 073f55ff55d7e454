package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// Room is what the API knows of a room.
type Room interface {
	// Describe tells what the room goes by.
	Describe() Description
	// Queue is the room of the queue.
	Queue() Queue
	// Patch is overrides.Room.Patch.
	Patch(ctx context.Context, now time.Time, patch []byte, lasts time.Duration, by string) error
	// Check is overrides.Room.Check.
	Check(now time.Time, patch []byte) error
	// Events are the room's events, in the order of their beginnings.
	Events() event.List
	// EditEvents, Merged and Draw are those of overrides.Room.
	EditEvents(ctx context.Context, now time.Time, by string, edit func(event.List) (event.List, error)) error
	Merged(e event.Event) queue.Settings
	Draw(name string) *event.Draw
	// Order is the order of a draw among those who have come to this gate.
	Order(d *event.Draw) (event.Order, error)
	// OrderHeader is the header of that order.
	OrderHeader(d *event.Draw) (event.Header, error)
	// Disconnect cuts the connections that keep a visitor in the room.
	Disconnect(id queue.ID)
	// Preview is pages.Room.Preview, with the room's numbers.
	Preview(now time.Time, state, language, message string) (page []byte, policy string, found bool)
	// SupportCode is the support code of a visitor of whose id that is the first half.
	SupportCode(short [8]byte) string
	// PutAhead, IsAhead and NoteFavour are those of overrides.Room.
	PutAhead(ctx context.Context, now time.Time, code string, ahead bool, by string) error
	IsAhead(now time.Time, code string) bool
	NoteFavour(ctx context.Context, now time.Time, by string) error
	// Origins are the room's, in the order of its configuration.
	Origins() []Origin
}

// Origin is how one of a room's origins stands.
type Origin struct {
	Address string `json:"address"`
	Failing bool   `json:"failing"`
}

// Queue is what the API asks of a [room.Room].
type Queue interface {
	Name() string
	Settings() queue.Settings
	Suspended() bool
	StoreFailing() bool
	StoreTime(now time.Time) queue.Instant
	Numbers() *estimate.Numbers
	CurrentNumbers(ctx context.Context, now time.Time) (*estimate.Numbers, error)
	Age(now time.Time, n *estimate.Numbers) time.Duration
	Scores() (quarters []estimate.Score, total estimate.Score)
	Slowed() room.Slowdown
	Proposal() (p pressure.Proposal, seen bool)
	Roster(ctx context.Context, ids ...queue.ID) (*queue.Roster, error)
	Everybody(ctx context.Context) (*queue.Roster, error)
	Renew(ctx context.Context, now time.Time, id queue.ID) error
	Prefer(ctx context.Context, now time.Time, id queue.ID, priority int16) error
	Remove(ctx context.Context, now time.Time, id queue.ID) (bool, error)
	Presents(now time.Time) func(yield func(room.Present) bool)
}

func (a *api) getRooms(w http.ResponseWriter, _ *http.Request) {
	rooms := []RoomJSON{}
	for r := range a.Gate.Rooms() {
		rooms = append(rooms, r.Describe().json())
	}
	reply.JSON(w, rooms)
}

// getRoom answers with what a room goes by, or the rooms of a family at first.
func (a *api) getRoom(w http.ResponseWriter, r *http.Request) {
	if family, found := a.Gate.Family(r.PathValue("room")); found {
		reply.JSON(w, family.json())
		return
	}
	a.withRoom(func(w http.ResponseWriter, _ *http.Request, of Room) { reply.JSON(w, of.Describe().json()) })(w, r)
}

// withRoom finds the room that the path names.
func (a *api) withRoom(next func(http.ResponseWriter, *http.Request, Room)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("room")
		if of, found := a.Gate.Room(name); found {
			next(w, r, of)
			return
		}
		var names []string
		for of := range a.Gate.Rooms() {
			names = append(names, of.Queue().Name())
		}
		detail := "There is no room of this name" + OrOneOf(name, names) + "."
		if _, found := a.Gate.Family(name); found {
			detail = "There is a room for each value of the path, and none of this name: each is called " + name + ".VALUE."
		}
		if !isPage(r) {
			detail += " See /api/v1/rooms."
		}
		a.problem(w, r, http.StatusNotFound, detail)
	}
}

// OrOneOf suggests the nearest of the names that there are; it is "" where none is near.
func OrOneOf(written string, names []string) string {
	if near := spelling.Nearest(written, names); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// patchRoom puts changes over the settings of a room.
func (a *api) patchRoom(w http.ResponseWriter, r *http.Request, of Room) {
	patch, ok := ReadChange(w, r)
	if !ok {
		return
	}
	lasts, ok := parseLasts(r.URL.Query().Get("for"))
	if !ok {
		reply.Problem(w, http.StatusUnprocessableEntity, "Nothing was changed: for is a duration, from 1s to 168h.")
		return
	}
	if err := a.change(r, of, patch, lasts); err != nil {
		status, detail, faults := unchanged(err)
		reply.Problem(w, status, detail, faults...)
		return
	}
	reply.JSON(w, of.Describe().json())
}

// checkPatch says what is wrong with changes of a room, and makes none.
func (a *api) checkPatch(w http.ResponseWriter, r *http.Request, of Room) {
	patch, ok := ReadChange(w, r)
	if !ok {
		return
	}
	if err := of.Check(a.Clock(), patch); err != nil {
		status, detail, faults := unchanged(err)
		reply.Problem(w, status, detail, faults...)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// longestChange is for how long a change may be made that ends by itself.
const longestChange = 7 * 24 * time.Hour

// parseLasts reads for how long a change is to last; "" is for good.
func parseLasts(text string) (lasts time.Duration, ok bool) {
	if text == "" {
		return 0, true
	}
	lasts, err := time.ParseDuration(text)
	return lasts, err == nil && lasts >= time.Second && lasts <= longestChange
}

// change puts a patch over the settings of a room, for so long or for good, by the operator who
// asks, and logs what became of it.
func (a *api) change(r *http.Request, of Room, patch []byte, lasts time.Duration) error {
	err := of.Patch(r.Context(), a.Clock(), patch, lasts, a.by(r))
	faults := new(overrides.FaultsError)
	switch {
	case err == nil:
		a.log(of).Info("room changed", zap.ByteString("changes", patch), zap.Duration("for", lasts), zap.String("by", a.by(r)))
	case !errors.Is(err, overrides.ErrNoObject) && !errors.As(err, &faults):
		a.log(of).Error("room not changed", zap.Error(err))
	}
	return err
}

// unchanged tells why a change was not made.
func unchanged(err error) (status int, detail string, faults []string) {
	wrong := new(overrides.FaultsError)
	switch {
	case errors.Is(err, overrides.ErrNoObject):
		return http.StatusBadRequest, "The body is not a JSON object.", nil
	case errors.As(err, &wrong):
		return http.StatusUnprocessableEntity, "Nothing was changed.", wrong.Faults
	}
	return http.StatusServiceUnavailable, "The store does not answer. It may make the change all the same: look before you ask again.", nil
}

// log returns a log of what concerns a room.
func (a *api) log(of Room) *zap.Logger { return a.Log.With(zap.String("room", of.Queue().Name())) }

// maxPatch bounds the body of a PATCH, in bytes.
const maxPatch = 64 << 10

// readUpTo is ReadChange of at most so many bytes.
func readUpTo(w http.ResponseWriter, r *http.Request, most int64) (patch []byte, ok bool) {
	if !isJSON(r.Header["Content-Type"]) {
		reply.Problem(w, http.StatusUnsupportedMediaType, "Send the changes as application/json.")
		return nil, false
	}
	patch, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		reply.Problem(w, status, "The body could not be read.")
		return nil, false
	}
	return patch, true
}

// isJSON says whether the lines of a Content-Type header name JSON, or there are
// none: browsers ask first before they send a PATCH to another site in any case.
func isJSON(lines []string) bool {
	if len(lines) == 0 {
		return true
	}
	kind, _, err := mime.ParseMediaType(lines[0])
	return err == nil && (kind == "application/json" || kind == "application/merge-patch+json")
}

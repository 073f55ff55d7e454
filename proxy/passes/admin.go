package passes

import (
	_ "embed" // for the document
	"errors"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// document describes the resources.
//
//go:embed openapi.yaml
var document string

// operators make, list and revoke passes by the admin API.
type operators struct {
	admin.API
	passes *Feature
}

// Admin implements [feature.Administered].
func (f *Feature) Admin(a admin.API) admin.Part {
	const all = "/api/v1/rooms/{room}/passes"
	o := operators{a, f}
	return admin.Part{Document: document, Tab: o.tab(), Find: o.find, Final: final, Resources: []admin.Resource{
		{Pattern: "GET " + all, Answer: o.withPasses(o.getPasses)},
		{Pattern: "POST " + all, Answer: o.withPasses(o.postPasses)},
		{Pattern: "DELETE " + all + "/{pass}", Answer: admin.Patient(o.withPasses(o.deletePasses))},
	}}
}

// final says why what is noted of passes is not undone.
var final = map[string]string{
	"passes made": "Revoke them on the page Passes.", "passes revoked": "Whoever has a revoked pass needs another: make one.",
	"sessions of passes ended": "Whoever is out comes back as a newcomer.",
}

// withPasses finds the room that the path names, and its passes.
func (o operators) withPasses(next func(http.ResponseWriter, *http.Request, admin.Room, *Room)) http.HandlerFunc {
	return o.WithRoom(func(w http.ResponseWriter, r *http.Request, in admin.Room) {
		of := o.passes.Of(in.Queue().Name())
		if of == nil {
			o.Lacks(w, r, in, http.StatusConflict, "The room takes no passes, by which people get in or ahead of others. Set passes: true for it in the configuration, "+admin.ReadAgain)
			return
		}
		next(w, r, in, of)
	})
}

// PassesJSON are passes of a room.
type PassesJSON struct {
	Passes []PassJSON `json:"passes"`
}

// PassJSON is a pass. The code and the link are told only when the pass is made: who has one of
// them can use the pass.
type PassJSON struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Kind      waitlist.PassKind `json:"kind"`
	Uses      int               `json:"uses"`
	Used      int               `json:"used"`
	MadeAt    time.Time         `json:"madeAt"`
	MadeBy    waitlist.Operator `json:"madeBy"`
	ExpiresAt time.Time         `json:"expiresAt"`
	RevokedAt *time.Time        `json:"revokedAt,omitempty"`
	RevokedBy waitlist.Operator `json:"revokedBy,omitempty"`
	Code      string            `json:"code,omitempty"`
	Link      string            `json:"link,omitempty"` // path and query on a host of the room
}

func describePasses(of *Room, list []waitlist.Pass) ([]PassJSON, error) {
	told := []PassJSON{}
	for _, p := range list {
		j := PassJSON{ID: p.ID, Name: p.Name, Kind: p.Kind, Uses: p.Uses, Used: p.Used, MadeAt: p.MadeAt, MadeBy: p.MadeBy,
			ExpiresAt: p.ExpiresAt, RevokedBy: p.RevokedBy, Code: p.Code}
		if p.Code != "" {
			var err error
			if j.Link, err = of.Link(p.ID); err != nil {
				return nil, err
			}
		}
		if !p.RevokedAt.IsZero() {
			j.RevokedAt = &p.RevokedAt
		}
		told = append(told, j)
	}
	return told, nil
}

// tellPasses answers with passes, unless asking for them has failed.
func (o operators) tellPasses(w http.ResponseWriter, in admin.Room, of *Room, list []waitlist.Pass, err error) {
	var told []PassJSON
	if err == nil {
		told, err = describePasses(of, list)
	}
	if err != nil {
		reply.Problem(w, http.StatusServiceUnavailable, o.why(in, err))
		return
	}
	reply.JSON(w, PassesJSON{told})
}

// why says why something has not been done, and logs it.
func (o operators) why(in admin.Room, err error) string {
	if errors.Is(err, errSessions) {
		o.LogOf(in).Error("the sessions of passes were not ended", zap.Error(err))
		return "The passes are revoked, but sessions by them go on: the store does not answer. Ask again to end them."
	}
	o.LogOf(in).Error("the record of passes has failed", zap.Error(err))
	return "The record of passes does not answer. It may make a change all the same: look before you ask again."
}

func (o operators) getPasses(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	most, ok := admin.Most(r.URL.Query())
	if !ok {
		reply.Problem(w, http.StatusBadRequest, admin.LimitRule+".")
		return
	}
	list, err := of.List(r.Context(), r.URL.Query().Get("after"), most)
	o.tellPasses(w, in, of, list, err)
}

func (o operators) postPasses(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	body, ok := admin.ReadChange(w, r)
	if !ok {
		return
	}
	made, fault, err := o.make(r, in, of, body)
	if fault != "" {
		reply.Problem(w, http.StatusUnprocessableEntity, "No pass was made: "+fault)
		return
	}
	o.tellPasses(w, in, of, made, err)
}

// make makes the passes of an order, or says what is wrong with it.
func (o operators) make(r *http.Request, in admin.Room, of *Room, order []byte) (made []waitlist.Pass, fault string, err error) {
	like, count, fault := parsePass(order, o.passes.gate.Now())
	if fault != "" {
		return nil, fault, nil
	}
	like.MadeBy = waitlist.Operator(o.By(r))
	made, err = of.Make(r.Context(), like, count)
	if err == nil {
		o.note(r, in, "passes made", "", like.Name+" ("+string(like.Kind)+", "+strconv.Itoa(count)+" × "+strconv.Itoa(like.Uses)+")")
	}
	return made, "", err
}

// PassOrder asks for passes that are good For a duration, or until they expire. Uses and Count are
// 1 where they are missing.
type PassOrder struct {
	Name      string            `json:"name"`
	Kind      waitlist.PassKind `json:"kind"`
	Uses      *int              `json:"uses,omitempty"`
	Count     *int              `json:"count,omitempty"`
	For       string            `json:"for,omitempty"`
	ExpiresAt *time.Time        `json:"expiresAt,omitempty"`
}

// parsePass reads an order of passes, or says what is wrong with it.
func parsePass(body []byte, now time.Time) (p waitlist.Pass, count int, fault string) {
	var order PassOrder
	if !admin.Decode(body, &order) {
		return p, 0, `send {"name": "press", "kind": "in", "uses": 5, "for": "24h"}.`
	}
	one := 1
	if order.Uses == nil {
		order.Uses = &one
	}
	if order.Count == nil {
		order.Count = &one
	}
	p = waitlist.Pass{Name: order.Name, Kind: order.Kind, Uses: *order.Uses}
	lasts, err := time.ParseDuration(order.For)
	if order.ExpiresAt != nil {
		p.ExpiresAt = *order.ExpiresAt
	} else {
		p.ExpiresAt = now.Add(lasts)
	}
	switch {
	case !isPassName(order.Name):
		fault = "name is 1 to 64 letters, digits, spaces, dots, - and _."
	case order.Kind != waitlist.PassIn && order.Kind != waitlist.PassAhead && order.Kind != waitlist.PassJoin:
		fault = "kind is in, ahead or join."
	case p.Uses < 1 || p.Uses > waitlist.MostPassUses:
		fault = "uses is a whole number from 1 to " + strconv.Itoa(waitlist.MostPassUses) + "."
	case *order.Count < 1 || *order.Count > waitlist.MostPasses:
		fault = "count is a whole number from 1 to " + strconv.Itoa(waitlist.MostPasses) + "."
	case (order.ExpiresAt == nil) == (order.For == "") || order.ExpiresAt == nil && err != nil:
		fault = `say until when: "for" a duration such as 24h, or "expiresAt" a time.`
	case !p.ExpiresAt.After(now) || p.ExpiresAt.Sub(now) > longestPass:
		fault = "a pass lasts for a year at most, and ends in the future."
	}
	return p, *order.Count, fault
}

// longestPass is for how long a pass is good at most.
const longestPass = 366 * 24 * time.Hour

// isPassName says whether a text may be the name of a pass.
func isPassName(text string) bool {
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != ' ' {
			return false
		}
	}
	return len(text) >= 1 && len(text) <= 64
}

// deletePasses revokes the passes of an id or a name. With end_sessions it ends what their holders
// have: sessions, and places in an exact line. That can be asked of passes that are revoked
// already.
func (o operators) deletePasses(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	endSessions := r.URL.Query().Get("end_sessions") == "true"
	done, err := o.revoke(r, in, of, r.PathValue("pass"), endSessions)
	switch {
	case err != nil:
		o.tellPasses(w, in, of, nil, err)
	case done.named == 0:
		reply.Problem(w, http.StatusNotFound, "No pass has this id or name.")
	case done.Revoked == 0 && !endSessions:
		reply.Problem(w, http.StatusNotFound, "No pass of this id or name is in force.")
	default:
		reply.JSON(w, done)
	}
}

// errSessions is that the sessions of passes could not be ended.
var errSessions = errors.New("ending the sessions of passes")

// revoke revokes the passes of an id or a name, and ends what their holders have, if it is to.
func (o operators) revoke(r *http.Request, in admin.Room, of *Room, which string, endSessions bool) (done RevokedJSON, err error) {
	named, ended, err := of.Revoke(r.Context(), which, waitlist.Operator(o.By(r)))
	done = RevokedJSON{Revoked: ended, named: len(named)}
	if ended > 0 {
		o.note(r, in, "passes revoked", labelOf(which, named), "")
	}
	if err != nil || done.named == 0 || !endSessions {
		return done, err
	}
	o.note(r, in, "sessions of passes ended", labelOf(which, named), "")
	if done.Sessions, err = o.endSessionsOf(r, in, of, named); err != nil {
		err = errors.Join(errSessions, err)
	}
	return done, err
}

// RevokedJSON says how many passes were revoked, and how many sessions and places of their holders
// have ended.
type RevokedJSON struct {
	Revoked  int `json:"revoked"`
	Sessions int `json:"sessions"`

	named int // how many there are, with those that were revoked before
}

// endSessionsOf ends what the holders of passes have, and counts whom it concerns.
func (o operators) endSessionsOf(r *http.Request, in admin.Room, of *Room, list []waitlist.Pass) (n int, err error) {
	for _, p := range list {
		for id := range of.Visitors(p) {
			found, err := in.Queue().Remove(r.Context(), o.passes.gate.Now(), id)
			if err != nil {
				return n, err
			}
			if found {
				in.Disconnect(id)
				n++
			}
		}
	}
	return n, nil
}

// labelOf is by what operators recognise passes that were asked for by their name, or one by its id.
func labelOf(which string, passes []waitlist.Pass) string {
	if len(passes) == 0 || passes[0].Name == which {
		return which
	}
	return passes[0].Name + " (" + which + ")"
}

// note notes what an operator has done about passes.
func (o operators) note(r *http.Request, in admin.Room, what, from, to string) {
	o.Note(r, in, what, from, to)
	o.LogOf(in).Info(what, zap.String("which", from+to), zap.String("by", o.By(r)))
}

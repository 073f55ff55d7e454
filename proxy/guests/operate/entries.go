package operate

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// EntriesJSON is a page of a listing, in order of rank.
type EntriesJSON struct {
	Entries []EntryJSON `json:"entries"`
	Total   int         `json:"total"` // on all pages
}

// EntryJSON is a person on a waitlist.
type EntryJSON struct {
	ID            int64           `json:"id"`
	Email         string          `json:"email"`
	UserID        string          `json:"userId,omitempty"`
	Status        waitlist.Status `json:"status"`
	Rank          int             `json:"rank"` // 0 for who does not wait
	Priority      int             `json:"priority"`
	ReferralCode  string          `json:"referralCode"`
	ReferralsMade int             `json:"referralsMade"`
	ReferralsHeld int             `json:"referralsHeld"` // wait for an operator
	Language      string          `json:"language,omitempty"`

	JoinedAt        time.Time `json:"joinedAt"`
	ConfirmedAt     time.Time `json:"confirmedAt,omitzero"`
	InvitedAt       time.Time `json:"invitedAt,omitzero"`
	AcceptedAt      time.Time `json:"acceptedAt,omitzero"`
	InviteExpiresAt time.Time `json:"inviteExpiresAt,omitzero"`
}

func describeEntry(e waitlist.Entry) EntryJSON {
	return EntryJSON{
		ID: e.Number, Email: e.Email, UserID: e.UserID, Status: e.Status, Rank: e.Rank, Priority: e.Priority, ReferralCode: e.ReferralCode,
		ReferralsMade: e.ReferralsMade, ReferralsHeld: e.ReferralsHeld, Language: e.Language, JoinedAt: e.JoinedAt, ConfirmedAt: e.ConfirmedAt,
		InvitedAt: e.InvitedAt, AcceptedAt: e.AcceptedAt, InviteExpiresAt: e.InviteExpiresAt,
	}
}

func (o *operators) getEntries(w http.ResponseWriter, r *http.Request, l Waitlist) {
	p, ok := readPage(w, r, "after")
	if !ok {
		return
	}
	s := waitlist.Search{Status: waitlist.Status(r.URL.Query().Get("status")), Text: r.URL.Query().Get("q"), After: p.from, Most: p.most}
	if s.Status != "" && !isStatus(s.Status) {
		reply.Problem(w, http.StatusBadRequest, noStatus(s.Status))
		return
	}
	found, err := l.Record().Entries(r.Context(), s)
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	listed := EntriesJSON{Entries: []EntryJSON{}, Total: found.Total}
	for _, e := range found.Entries {
		listed.Entries = append(listed.Entries, describeEntry(e))
	}
	reply.JSON(w, listed)
}

func isStatus(s waitlist.Status) bool { return slices.Contains(waitlist.Statuses(), s) }

func noStatus(s waitlist.Status) string {
	var names []string
	for _, known := range waitlist.Statuses() {
		names = append(names, string(known))
	}
	return fmt.Sprintf("There is no status %q. A status is one of %s.", s, strings.Join(names, ", "))
}

// withEntry finds the id of an entry that the path names, by the id, the address or the user.
func (o *operators) withEntry(next func(http.ResponseWriter, *http.Request, Waitlist, int64)) http.HandlerFunc {
	return o.withWaitlist(func(w http.ResponseWriter, r *http.Request, l Waitlist) {
		id, err := l.Record().Find(r.Context(), r.PathValue("id"))
		if err != nil {
			o.refused(w, r, l, err)
			return
		}
		next(w, r, l, id)
	})
}

// getEntry tells of an entry. One that was removed has nothing to tell.
func (o *operators) getEntry(w http.ResponseWriter, r *http.Request, l Waitlist, id int64) {
	e, err := l.Record().Entry(r.Context(), id, o.Clock())
	if err == nil && e.Status == waitlist.Removed {
		err = waitlist.ErrNotFound
	}
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	reply.JSON(w, describeEntry(e))
}

// entryChange is what an operator makes of an entry.
type entryChange struct {
	Priority *int             `json:"priority"`
	Status   *waitlist.Status `json:"status"`
}

func (c entryChange) removes() bool { return c.Status != nil && *c.Status == waitlist.Removed }

// fault says why the change cannot be made of any entry; "" if it can.
func (c entryChange) fault() string {
	switch {
	case c.Priority == nil && c.Status == nil:
		return `send {"priority": n}, {"status": "…"}, or both.`
	case c.Priority != nil && (*c.Priority < -waitlist.MostPriority || *c.Priority > waitlist.MostPriority):
		return fmt.Sprintf("a priority is a whole number from %d to %d.", -waitlist.MostPriority, waitlist.MostPriority)
	case c.Status != nil && !isStatus(*c.Status):
		return noStatus(*c.Status)
	case c.Priority != nil && c.removes():
		return "who is removed has no priority."
	default:
		return ""
	}
}

// patchEntry changes the status and the priority of an entry. A status that is refused leaves both
// as they are.
func (o *operators) patchEntry(w http.ResponseWriter, r *http.Request, l Waitlist, id int64) {
	body, ok := admin.ReadChange(w, r)
	if !ok {
		return
	}
	var change entryChange
	if !admin.Decode(body, &change) {
		change = entryChange{}
	}
	if fault := change.fault(); fault != "" {
		reply.Problem(w, http.StatusUnprocessableEntity, "Nothing was changed: "+fault)
		return
	}
	var err error
	if change.Status != nil {
		err = l.Record().SetStatus(r.Context(), id, *change.Status, o.by(r), o.Clock())
	}
	if err == nil && change.Priority != nil {
		err = l.Record().SetPriority(r.Context(), id, *change.Priority, o.by(r), o.Clock())
	}
	switch {
	case err != nil:
		o.refused(w, r, l, err)
	case change.removes():
		w.WriteHeader(http.StatusNoContent)
	default:
		o.getEntry(w, r, l, id)
	}
}

// deleteEntry takes an entry off the list and erases the personal data in it.
func (o *operators) deleteEntry(w http.ResponseWriter, r *http.Request, l Waitlist, id int64) {
	if err := l.Record().Remove(r.Context(), id, o.by(r), o.Clock()); err != nil {
		o.refused(w, r, l, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

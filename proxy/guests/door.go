package guests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Guest names the person who the sender of a request is by an invite that they have accepted: the
// user whom the site names, or else the entry that their cookie is for. One entry is one person,
// however many cookies there are of it. Guest asks memory alone: what has happened at another gate
// it knows within a second or two.
func (l *Waitlist) Guest(v *feature.Visit, r *http.Request) (person string, found bool) {
	g, found := l.find(v, r)
	if !found {
		return "", false
	}
	return l.person(owner{g.Number, g.JoinedAt}, g.UserID), true
}

// find returns the guest who sends a request.
func (l *Waitlist) find(v *feature.Visit, r *http.Request) (g waitlist.Guest, found bool) {
	if v.User != "" {
		if g, found = l.record.GuestOf(v.User); found {
			return g, true
		}
	}
	o, found := l.setup.Load().owner(r.Header, v.Setup.Owns(r))
	if !found {
		return g, false
	}
	return l.record.Guest(o.number, o.joined)
}

// person names the person of an entry, which may be that of a user of the site. No user has the
// name of another entry.
func (l *Waitlist) person(o owner, userID string) string {
	if userID != "" {
		return userID
	}
	return fmt.Sprintf("\x00guest %s %d %d", l.Name(), o.number, o.joined.UnixMilli())
}

// patience is how long the door waits for the record.
const patience = 2 * time.Second

// FindGuest asks the record what Guest asks memory. It asks about people who have a cookie of an
// entry or a name, and are to be told their place unless they have accepted at another gate just
// now.
func (l *Waitlist) FindGuest(v *feature.Visit, r *http.Request) (person string, found bool) {
	o, found := l.setup.Load().owner(r.Header, v.Setup.Owns(r))
	if !found && v.User == "" {
		return "", false
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	e, err := l.entryOf(ctx, o, v.User)
	if err != nil || e.Status != waitlist.Accepted {
		return "", false
	}
	return l.person(owner{e.Number, e.JoinedAt}, e.UserID), true
}

// entryOf returns the entry of a user of the site, or else the one that the cookie is for. The
// error is waitlist.ErrNotFound if there is none.
func (l *Waitlist) entryOf(ctx context.Context, o owner, userID string) (e waitlist.Entry, err error) {
	if userID != "" {
		e, err = l.record.EntryOf(ctx, userID, l.o.Clock())
		if !errors.Is(err, waitlist.ErrNotFound) {
			return e, err
		}
	}
	if o.number == 0 {
		return e, waitlist.ErrNotFound
	}
	e, err = l.record.Entry(ctx, o.number, l.o.Clock())
	if err == nil && (e.Status == waitlist.Removed || !e.JoinedAt.Equal(o.joined)) {
		err = waitlist.ErrNotFound
	}
	return e, err
}

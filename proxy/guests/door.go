package guests

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/anteroom-gate/anteroom/queue/waitlist"
)

// Knows reports whether the sender of a request is a guest: somebody who has accepted an invite and has the cookie, or whom the site
// names so. It asks memory alone: what has happened at another gate it knows within a second or two.
func (l *Waitlist) Knows(h http.Header, userID string) bool {
	if userID != "" && l.record.HasAcceptedUser(userID) {
		return true
	}
	o, found := l.setup.Load().owner(h)
	return found && l.record.HasAccepted(o.number, o.joined)
}

// patience is how long the door waits for the record.
const patience = 2 * time.Second

// Finds asks the record what Knows asks memory. It asks about people who have a cookie of an entry or a name, and are to be told their
// place unless they have accepted at another gate just now.
func (l *Waitlist) Finds(ctx context.Context, h http.Header, userID string) bool {
	o, found := l.setup.Load().owner(h)
	if !found && userID == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, err := l.entryOf(ctx, o, userID)
	return err == nil && e.Status == waitlist.Accepted
}

// entryOf returns the entry of a user of the site, or else the one that the cookie is for. The error is waitlist.ErrNotFound if there
// is none.
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

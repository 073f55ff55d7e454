package guests

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/queue/waitlist"
)

// Knows reports whether the sender of a request is a guest: somebody who has accepted an invite and has the cookie, or whom the site
// names so. It asks memory, and the record only about those who are on the list and have not accepted as far as this gate knows:
// they may have done so at another one just now.
func (l *Waitlist) Knows(ctx context.Context, h http.Header, userID string) bool {
	if userID != "" && l.record.HasAcceptedUser(userID) {
		return true
	}
	o, found := l.setup.Load().owner(h)
	if found && l.record.HasAccepted(o.number, o.joined) {
		return true
	}
	if !found && userID == "" {
		return false
	}
	e, err := l.entryOf(ctx, o, userID)
	if err != nil && !errors.Is(err, waitlist.ErrNotFound) {
		l.o.Log.Warn("a waitlist does not answer", zap.String("waitlist", l.Name()), zap.Error(err))
	}
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

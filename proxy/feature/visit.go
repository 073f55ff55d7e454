package feature

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Visit is a request that a room guards, or a question about how its sender stands in the room; and
// the visitor who sent it.
type Visit struct {
	Room    *Room
	Setup   *Setup // of the room, loaded once: the whole request goes by it
	Now     time.Time
	Ticket  queue.Ticket  // as they brought it
	Sealed  cookie.Ticket // what it came in
	Decided queue.Ticket  // as the queue's decision has it, once the request goes to the site
	Stale   bool          // the ticket is to be issued again: it has an old key, or the cookie's name for the other scheme
	HTTPS   bool
	Bound   bind.Binding // to whom their tickets are bound

	User      string       // the site's own name for them; "" for none
	Subject   queue.ID     // who they are to the site, or by an invite or a pass; the zero ID if nothing says
	Priority  int16        // that the site has signed for them, or that guests have
	PassAhead queue.Ahead  // where their pass puts them
	Ahead     queue.Ahead  // where that puts them, or operators
	Note      string       // what the site says of them, in JSON; "" for nothing
	Network   netip.Prefix // where they come from, if their room limits how many of a network may wait, or measures its site

	Endless  EndlessLine // that they are in, with nothing else known of them; nil for none
	Shut     bool        // their room lets in guests or holders of passes only, and they are none
	Unproven bool        // they get a new place in line only after the room's challenge
}

// Read reads who sent a request. It fails if the cookies cannot be read.
func (v *Visit) Read(r *http.Request, of *Room, s *Setup, now time.Time) error {
	sealed, err := s.Jar.Read(r.Header)
	v.Recognise(r, of, s, now, sealed)
	return err
}

// Recognise is Read with a cookie that was opened already.
func (v *Visit) Recognise(r *http.Request, of *Room, s *Setup, now time.Time, sealed cookie.Ticket) {
	*v = Visit{Room: of, Setup: s, Now: now, Sealed: sealed, HTTPS: s.HTTPS(r)}
	if v.Endless = s.endlessLine(r); v.Endless != nil {
		return
	}
	lacksBinding := v.openTicket(r)
	v.Bound = s.Binder.Bind(r, s.Trust)
	claim, refused := s.Subjects.Read(r, s.Trust, now)
	if refused != nil {
		of.Refuse(metrics.BadToken)
		s.Log.Debug("token refused", s.About(r, v.Ticket.ID), zap.Error(refused))
	}
	v.Note = claim.Note
	if claim.Subject != "" {
		v.User, v.Subject, v.Priority = claim.Subject, room.SubjectID(s.Config.Name, claim.Subject), claim.Priority
	}
	for _, f := range s.Recognisers {
		f.Recognise(r, v)
	}
	v.Ahead = of.Ahead(now, &v.Ticket, v.PassAhead)
	if of.Queue.LimitsNetworks() || of.Queue.Measures() {
		v.Network = networks.Of(s.Trust.ClientAddr(r))
	}
	v.Stale = v.Ticket.State != queue.None && (lacksBinding || sealed.Key != 0 || sealed.Name != s.Jar.Name(v.HTTPS))
}

// Request returns what the visitor asks of the queue.
func (v *Visit) Request(hidden, noWait bool) room.Request {
	asked := room.Request{Ticket: v.Ticket, Subject: v.Subject, Priority: v.Priority, Ahead: v.Ahead, Network: v.Network}
	if hidden {
		asked.Ask.By = room.HiddenPage
	}
	switch {
	case noWait:
		asked.Ask.Place = room.NoPlace
	case v.Unproven:
		asked.Ask.Place = room.OwnPlace
	}
	return asked
}

// Decide has the queue decide about the visitor's request.
func (v *Visit) Decide(r *http.Request) room.Decision {
	asked := v.Request(Hidden(r), Unsafe(r) && !SentByAPage(r) || v.TakesNoPlace(r))
	if Probes(r) {
		asked.Ask.Slot = room.ProvisionalSlot
	}
	d := v.Room.Queue.Visit(r.Context(), v.Now, asked)
	if v.Note != "" {
		v.Room.Say(r, v.Now, &d.Ticket, v.Note)
	}
	return d
}

// Result is what becomes of the visitor's request by a decision.
func (v *Visit) Result(d *room.Decision) metrics.Result {
	switch {
	case v.Endless != nil:
		return metrics.Endless
	case v.Shut:
		return metrics.Uninvited
	}
	return metrics.ResultOf(*d)
}

// Count counts the visitor's request by a decision.
func (v *Visit) Count(d *room.Decision) {
	v.Room.Decided(Sight{At: v.Now, Brought: v.Ticket.ID, Ahead: v.Ahead != 0 || v.Priority > 0, Note: v.Note, What: v.Result(d), Decision: *d})
}

// Owns returns what says whether a cookie that carries no ticket belongs to the sender of a
// request: by what the cookie was bound to when it was sealed with one of the keys.
func (s *Setup) Owns(r *http.Request) func(bound []byte, key int) bool {
	return func(bound []byte, key int) bool { return s.Binder.OwnsBytes(bound, key, r, s.Trust) }
}

// Bound is what a cookie that carries no ticket is bound to, if it is given to the sender of a
// request.
func (s *Setup) Bound(r *http.Request) []byte { return s.Binder.Bind(r, s.Trust).Bytes() }

// IsNew reports whether the visitor, who is no user of the site, has got a place by a decision that
// they did not have before.
func (v *Visit) IsNew(d *room.Decision) bool {
	return v.Subject == (queue.ID{}) && d.Ticket.ID != v.Ticket.ID
}

// Forget takes back the new place of a visitor who never gets to know of it.
func (v *Visit) Forget(d *room.Decision) {
	if d.Ticket.State == queue.Waiting && v.IsNew(d) {
		v.Room.Queue.Withdraw(v.Now, d.Ticket)
	}
}

// IsIn says whether the visitor has brought the ticket of a session that lasts.
func (v *Visit) IsIn(ctx context.Context) bool {
	if v.Ticket.State != queue.Accepted {
		return false
	}
	t, _ := v.Room.Queue.Peek(ctx, v.Now, v.Request(false, true))
	return t.State == queue.Accepted
}

// WouldWait says whether somebody new would have to wait in the visitor's room.
func (v *Visit) WouldWait() bool {
	return v.Room.Queue.Numbers().Queueing() || v.Setup.AdmitsNobody(v.Room.Settings())
}

// CookieMissing says whether a page checks in whose browser does not send the room's cookie
// back. The page, which says that it is returning, came with one: each check-in would be from
// somebody new.
func (v *Visit) CookieMissing(r *http.Request) bool {
	if v.Ticket.State != queue.None || v.Subject != (queue.ID{}) || r.Header["Fairdoor-Returning"] == nil || Unsafe(r) {
		return false
	}
	_, err := r.Cookie(v.Setup.Jar.Name(v.HTTPS))
	return err != nil
}

package proxy

import (
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// visitor is the person who sent a request that a room guards, or a question about how
// they stand in the room.
type visitor struct {
	room   *room
	setup  *roomSetup // of the room, loaded once: the whole request goes by it
	now    time.Time
	ticket queue.Ticket  // as they brought it
	sealed cookie.Ticket // what it came in
	stale  bool          // the ticket is to be issued again: it has an old key, or the cookie's name for the other scheme
	https  bool

	subject  queue.ID // who they are to the site, or by an invite or a pass; the zero ID if nothing says
	priority int16    // that the site has signed for them, or that guests have

	label string // by which operators recognise them; "" for none

	flagged bool        // a rule wants them in the endless line: nothing else is known of them
	bound   binding     // to whom their tickets are bound
	ahead   queue.Ahead // where their pass puts them

	uninvited bool // their room lets in guests or holders of passes only, and they are none

	network netip.Prefix // where they come from, if their room limits how many of a network may wait, or measures its origin
}

// request returns what the visitor asks of the queue.
func (v *visitor) request(hidden, noWait bool) queueroom.Request {
	asked := queueroom.Request{Ticket: v.ticket, Subject: v.subject, Priority: v.priority, Ahead: v.ahead, Network: v.network}
	if hidden {
		asked.Ask.By = queueroom.HiddenPage
	}
	switch {
	case noWait:
		asked.Ask.Place = queueroom.NoPlace
	case v.isUnproven():
		asked.Ask.Place = queueroom.OwnPlace
	}
	return asked
}

// visit has the queue decide about the visitor's request.
func (v *visitor) visit(q *http.Request) queueroom.Decision {
	asked := v.request(hidden(q), unsafe(q) && !sentByAPage(q) || v.takesNoPlace(q))
	if probes(q) {
		asked.Ask.Slot = queueroom.ProvisionalSlot
	}
	d := v.room.queue.Visit(q.Context(), v.now, asked)
	if v.label != "" {
		v.room.labels.Note(d.Ticket.ID, v.label)
	}
	return d
}

// wouldWait says whether somebody new would have to wait in the visitor's room.
func (v *visitor) wouldWait() bool {
	return v.room.queue.Numbers().Queueing() || v.setup.admitsNobody(v.room.settings())
}

// cookieMissing says whether a page checks in whose browser does not send the room's cookie
// back. The page, which says that it is returning, came with one: each check-in would be from
// somebody new.
func (v *visitor) cookieMissing(r *http.Request) bool {
	if v.ticket.State != queue.None || v.subject != (queue.ID{}) || r.Header["Fairdoor-Returning"] == nil || unsafe(r) {
		return false
	}
	_, err := r.Cookie(v.setup.jar.Name(v.https))
	return err != nil
}

// visitor returns the visitor who sent a request, by their ticket and by what the site
// says of them. It fails if the cookies cannot be read.
func (r *room) visitor(q *http.Request, rs *roomSetup, now time.Time, trust origin.Trust) (visitor, error) {
	sealed, err := rs.jar.Read(q.Header)
	return r.holder(q, rs, now, trust, sealed), err
}

// holder returns the visitor who sent a request with a cookie that was opened already.
func (r *room) holder(q *http.Request, rs *roomSetup, now time.Time, trust origin.Trust, sealed cookie.Ticket) visitor {
	v := visitor{room: r, setup: rs, now: now, sealed: sealed, https: trust.Scheme(q) == "https"}
	if v.flagged = rs.rules.Flag() && rs.action(q, trust) == route.EndlessLine; v.flagged {
		return v
	}
	var lacksBinding bool
	v.ticket, lacksBinding = r.ticketOf(q, rs, trust, sealed)
	v.bound = rs.binder.bind(q, trust)
	claim, refused := rs.subjects.Read(q, trust, now)
	if refused != nil {
		r.Refuse(metrics.BadToken)
		rs.log.Debug("token refused", zap.Error(refused))
	}
	v.label = claim.Label
	if claim.Subject != "" {
		v.subject, v.priority = queueroom.SubjectID(rs.cfg.Name, claim.Subject), claim.Priority
	}
	v.asGuest(q, claim.Subject, trust)
	v.asHolder(q, trust)
	if r.queue.LimitsNetworks() || r.queue.Measures() {
		v.network = networkOf(trust.ClientAddr(q))
	}
	v.stale = v.ticket.State != queue.None && (lacksBinding || sealed.Key != 0 || sealed.Name != rs.jar.Name(v.https))
	return v
}

// stripSubjects removes the headers by which the site names its users, unless a trusted
// proxy sent them. It does so for every room, since rooms may share an origin.
func (s *setup) stripSubjects(r *http.Request) {
	for _, subjects := range s.subjects {
		subjects.Strip(r, s.trust)
	}
}

// unsafe says whether the request is one that must not be asked again by itself later.
func unsafe(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// hidden says whether the visitor's page has said that it is in a background tab.
func hidden(r *http.Request) bool {
	values := r.Header["Fairdoor-Visibility"]
	return len(values) > 0 && values[0] == "hidden"
}

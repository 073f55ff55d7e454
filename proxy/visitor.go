package proxy

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy/origin"
	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// visitor is who sent a request that a room guards.
type visitor struct {
	room   *room
	now    time.Time
	ticket queue.Ticket  // as they brought it
	sealed cookie.Ticket // what it came in
	stale  bool          // it should be issued anew: an old key, or the other scheme's name
	https  bool

	subject  queue.ID // who the site says they are; the zero ID where it does not
	priority int16    // what it has signed for them
}

// request is what the visitor asks of the queue.
func (v *visitor) request(hidden, noWait bool) queueroom.Request {
	return queueroom.Request{Ticket: v.ticket, Hidden: hidden, NoWait: noWait, Subject: v.subject, Priority: v.priority}
}

// visitor returns who sent the request, by their ticket and by what the site says
// of them. It fails if the cookies cannot be read.
func (r *room) visitor(q *http.Request, now time.Time, trust origin.Trust) (visitor, error) {
	ticket, sealed, err := r.ticket(q)
	return r.holder(q, now, trust, ticket, sealed), err
}

// holder is visitor of a ticket that was read already.
func (r *room) holder(q *http.Request, now time.Time, trust origin.Trust, ticket queue.Ticket, sealed cookie.Ticket) visitor {
	v := visitor{room: r, now: now, ticket: ticket, sealed: sealed, https: trust.Scheme(q) == "https"}
	claim, refused := r.names.Read(q, trust, now)
	if refused != nil {
		r.badTokens.Inc()
		r.log.Debug("token refused", zap.Error(refused))
	}
	if claim.Subject != "" {
		v.subject, v.priority = queueroom.SubjectID(r.cfg.Name, claim.Subject), claim.Priority
	}
	v.stale = ticket.State != queue.None && (sealed.Key != 0 || sealed.Name != r.jar.Name(v.https))
	return v
}

// unsafe says whether the request is one that cannot be answered with a page and
// asked again later.
func unsafe(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// hidden says whether the visitor's page has told that it is in a background
// tab.
func hidden(r *http.Request) bool {
	values := r.Header["Anteroom-Visibility"]
	return len(values) > 0 && values[0] == "hidden"
}

package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/webpush"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// nearMinutes is how long somebody has to wait at most, in minutes, who is told that it is almost their turn.
const nearMinutes = 2

// callBack answers requests by which visitors ask to be called, and those by which they come when they were called.
func (g *Gate) callBack(w http.ResponseWriter, r *http.Request, s *setup) {
	of := s.roomNamed(r.URL.Query().Get("room"))
	switch {
	case of == nil || !of.setup.Load().cfg.CallBack || !of.setup.Load().isOn(r.Host):
		g.problem(w, r, http.StatusNotFound, g.languages)
	case r.Method == http.MethodPost && foreign(r):
		g.problem(w, r, http.StatusBadRequest, g.languages)
	case r.Method == http.MethodPost:
		g.askForCall(w, r, s, of)
	case r.Method == http.MethodGet:
		g.comeBack(w, r, s, of)
	default:
		w.Header().Set("Allow", "GET, POST")
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
	}
}

// callPath is the path and query by which visitors of a room ask to be called, and come back.
func callPath(room string) string { return ownPaths + "call-back?room=" + url.QueryEscape(room) }

// askForCall takes on a visitor who waits and asks to be called.
func (g *Gate) askForCall(w http.ResponseWriter, r *http.Request, s *setup, of *room) {
	src, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webpush.MaxSubscription))
	var subscription webpush.Subscription
	if err == nil {
		subscription, err = webpush.Parse(src, s.pushHosts)
	}
	if err != nil {
		of.setup.Load().log.Debug("subscription refused", zap.Error(err))
		g.problem(w, r, http.StatusBadRequest, g.languages)
		return
	}
	status := http.StatusConflict
	if visitors, err := g.visitorOf(r, s, of); err == nil && len(visitors) > 0 {
		status = g.takeOn(r, s, of, &visitors[0], subscription)
	}
	if status != http.StatusNoContent {
		g.problem(w, r, status, g.languages)
		return
	}
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(status)
}

// takeOn takes on a visitor, and returns the status of the answer. Somebody in the endless line is not called, and not told so.
func (g *Gate) takeOn(r *http.Request, s *setup, of *room, v *visitor, subscription webpush.Subscription) int {
	if v.flagged {
		if t, _ := v.endlessTicket(); t.State == queue.Waiting {
			return http.StatusNoContent
		}
	}
	c, ok := g.callOf(r, s, of, v)
	if !ok {
		return http.StatusConflict
	}
	c.Subscription, c.Service = subscription, subscription.Service(s.pushHosts)
	return statusOf(g.calls.Ask(c))
}

// statusOf is that of the answer to a visitor who has asked to be called.
func statusOf(err error) int {
	switch {
	case errors.Is(err, callback.ErrFull):
		return http.StatusServiceUnavailable
	case err != nil:
		return http.StatusConflict
	}
	return http.StatusNoContent
}

// callOf is the call of a visitor who sent a request, without their subscription. There is none for somebody who does not wait, nor
// for the holder of a pass, which the gate would have to see at each check-in, nor in a room that calls nobody any more.
func (g *Gate) callOf(r *http.Request, s *setup, of *room, v *visitor) (c callback.Call, ok bool) {
	if v.setup.calls == nil || v.uninvited || v.ahead != queue.NotAhead {
		return c, false
	}
	var place queue.Place
	v.ticket, place = of.queue.Peek(r.Context(), v.now, v.request(false, false))
	if v.ticket.State != queue.Waiting {
		return c, false
	}
	sealed, err := v.setup.sealCall(v.ticket)
	if err != nil { // which no ticket causes
		v.setup.log.Error("ticket not sealed", zap.Error(err))
		return c, false
	}
	site, network := "http://"+r.Host, networkOf(s.trust.ClientAddr(r))
	if v.https {
		site = "https://" + r.Host
	}
	return callback.Call{
		Visitor: callback.VisitorOf(v.setup.cfg.Name, v.ticket.ID), Room: v.setup.cfg.Name, Ticket: sealed,
		Subject: v.subject, Rank: v.priority, From: network, Around: siteOf(network), Key: v.setup.callKeys[0].Public(),
		Site: site, Address: s.pageOf(r, of), Language: v.setup.set.Match(headerValue(r.Header["Accept-Language"])),
		Ends: v.now.Add(of.settings().QueueTicketTTL), Foretold: of.near(&queueroom.Decision{Ticket: v.ticket, Place: place}),
	}, true
}

// maxAddress is how long the address may be that a visitor comes back to.
const maxAddress = 1000

// pageOf is the path and query of the page that sent a request, if it is the room's; else the room's own.
func (s *setup) pageOf(r *http.Request, of *room) string {
	page, err := url.Parse(r.Referer())
	if err == nil && page.Host == r.Host && len(page.RequestURI()) <= maxAddress {
		return s.addressIn(of, r.Host, page)
	}
	return of.setup.Load().pathOn(r.Host)
}

// addressIn is the path and query of a URL, as those of a host, if they are a room's; else the room's own.
func (s *setup) addressIn(of *room, host string, u *url.URL) string {
	address := addressOf(&http.Request{URL: u, RequestURI: u.RequestURI()})
	if at, _ := s.roomAt(host, address); at != of {
		return of.setup.Load().pathOn(host)
	}
	return address
}

// comeBack has a visitor who was called go on to the room, with the ticket that they have by now. The query tells the path there.
func (g *Gate) comeBack(w http.ResponseWriter, r *http.Request, s *setup, of *room) {
	h := w.Header()
	visitors, err := g.visitorOf(r, s, of)
	if err == nil && len(visitors) > 0 && visitors[0].ticket.State == queue.Waiting {
		if t, ok := g.recall(r.Context(), &visitors[0]); ok {
			if value, err := visitors[0].seal(&t); err == nil {
				h["Set-Cookie"] = append(h["Set-Cookie"], value)
			}
		}
	}
	h["Cache-Control"] = noStore
	h.Set("Referrer-Policy", "strict-origin")
	h.Set("Location", s.wayBack(r, of))
	w.WriteHeader(http.StatusSeeOther)
}

// wayBack is the path and query that a request by which a visitor comes back asks for, if they are the room's; else the room's own.
func (s *setup) wayBack(r *http.Request, of *room) string {
	to, err := url.Parse(r.URL.Query().Get("to")) // it refuses what browsers leave out: tabs and ends of lines
	if err == nil && !to.IsAbs() && to.Host == "" && strings.HasPrefix(to.Path, "/") {
		return s.addressIn(of, r.Host, to)
	}
	return of.setup.Load().pathOn(r.Host)
}

// recall is the ticket of a visitor who has come back: the one by which this gate has checked in for them, or, where another gate has,
// that of the slot that the store keeps for them. A device that the place has moved from gets none.
func (g *Gate) recall(ctx context.Context, v *visitor) (queue.Ticket, bool) {
	if v.room.queue.HasMoved(v.now, v.ticket) {
		return queue.Ticket{}, false
	}
	if sealed, ok := g.calls.Take(callback.VisitorOf(v.setup.cfg.Name, v.ticket.ID)); ok {
		if t, ok := v.setup.openCall(sealed); ok {
			t.Moved = v.ticket.Moved
			return t, true
		}
	}
	return v.room.queue.Recall(ctx, v.now, v.request(false, false))
}

// sealCall seals a ticket as the desk keeps it.
func (rs *roomSetup) sealCall(t queue.Ticket) (string, error) {
	payload, err := t.AppendBinary(nil)
	if err != nil {
		return "", fmt.Errorf("writing a ticket: %w", err)
	}
	return rs.calls.Encode(payload)
}

// openCall is the ticket of sealCall.
func (rs *roomSetup) openCall(sealed string) (t queue.Ticket, ok bool) {
	if rs.calls == nil {
		return t, false
	}
	payload, _, ok := rs.calls.Decode(sealed)
	return t, ok && t.UnmarshalBinary(payload) == nil
}

// near says whether it is almost the turn of a visitor who waits. In random nobody knows.
func (r *room) near(d *queueroom.Decision) bool {
	n, wait := r.queue.Numbers(), estimate.Wait{}
	switch method := n.Settings.Method; {
	case method.HasExactLine() && d.Place.Number != 0:
		wait = n.WaitAt(d.Place)
	case method.OrdersBuckets() && !n.Settings.Event.Shuffling():
		wait = n.Wait(d.Ticket.ArrivedAt)
	}
	return wait.Known && wait.Minutes <= nearMinutes
}

// callsGate is the gate as its desk knows it.
type callsGate struct{ *Gate }

// CheckIn implements callback.Gate.
func (g callsGate) CheckIn(ctx context.Context, now time.Time, c *callback.Call) callback.Stand {
	of := g.current.Load().roomNamed(c.Room)
	if of == nil {
		return callback.Stand{State: callback.Gone}
	}
	rs := of.setup.Load()
	ticket, ok := rs.openCall(c.Ticket)
	if !ok {
		return callback.Stand{State: callback.Gone}
	}
	ticket = of.queue.Follow(now, ticket)
	q := queueroom.Request{Ticket: ticket, Ask: queueroom.Ask{By: queueroom.StandIn}, Subject: c.Subject, Priority: c.Rank}
	if of.queue.LimitsNetworks() {
		q.Network = c.From
	}
	d := of.forEvents().Visit(ctx, now, q)
	stand := of.stand(now, &ticket, &d)
	stand.Ticket, _ = rs.sealCall(d.Ticket) // the ticket of nobody is none
	return stand
}

// stand is how a visitor with a ticket stands for whom the desk has checked in.
func (r *room) stand(now time.Time, t *queue.Ticket, d *queueroom.Decision) callback.Stand {
	s := r.settings()
	stand := callback.Stand{State: callback.Gone, Due: s.RefreshInterval, Until: now.Add(s.QueueTicketTTL), Lasts: s.QueueTicketTTL}
	kept := d.Outcome == queueroom.Kept && (d.Fresh || d.Ticket.Expires.Time().Sub(now) <= s.ClaimWithin) // the gate may have ended before it was noted
	switch {
	case d.Outcome == queueroom.OnHold:
		stand.State = callback.Waits
	case d.Outcome == queueroom.Queued && d.Ticket.ID != t.ID: // their place was used; nobody waits under the new one
		r.leave(now, d.Ticket)
	case d.Outcome == queueroom.Queued:
		stand.State, stand.Due = callback.Waits, r.queue.DueIn(now, d.Ticket)
		if r.near(d) {
			stand.State = callback.Near
		}
	case r.suspended():
		stand.State = callback.Called
	case kept || d.Outcome == queueroom.Admitted && d.Fresh:
		stand.State, stand.Until, stand.Lasts = callback.Called, d.Ticket.Expires.Time(), s.SessionDuration
	case d.Outcome == queueroom.Rejected:
		stand.State = callback.Shut
	}
	return stand
}

// Push implements callback.Gate.
func (g callsGate) Push(ctx context.Context, now time.Time, c *callback.Call, m *callback.Message) (time.Duration, error) {
	s := g.current.Load()
	of := s.roomNamed(c.Room)
	if of == nil {
		return 0, webpush.ErrGone
	}
	rs := of.setup.Load()
	for _, key := range rs.callKeys {
		if key.Public() == c.Key {
			sender := webpush.Sender{Hosts: s.pushHosts, Clock: g.o.Clock}
			return sender.Send(ctx, &c.Subscription, webpush.Message{Body: rs.callText(c, m, of.settings().QueueTicketTTL), TTL: m.Until.Sub(now), Topic: c.Visitor}, key, c.Site)
		}
	}
	return 0, webpush.ErrGone // the key that the subscription is for has been removed
}

// callText is a message as the service worker of the page reads it.
func (rs *roomSetup) callText(c *callback.Call, m *callback.Message, kept time.Duration) []byte {
	words := rs.set.Called(c.Language, strconv.Itoa(int(kept/time.Minute)))
	said := map[callback.Kind]string{callback.Almost: words.Almost, callback.Turn: words.Turn, callback.Closed: words.Closed, callback.Lapsed: words.Lapsed}
	text, _ := json.Marshal(map[string]any{ // plain values can always be encoded
		"title": words.Title, "body": said[m.Kind], "until": m.Until.UTC().Format(time.RFC3339), "last": m.Kind != callback.Almost,
		"url": callPath(c.Room) + "&to=" + url.QueryEscape(c.Address),
	})
	return text
}

// callWorker serves the service worker that shows visitors what they are told.
func (g *Gate) callWorker(w http.ResponseWriter, _ *http.Request, _ *setup) {
	h, script := w.Header(), templates.CallWorker()
	h["Content-Type"], h["Cache-Control"], h["X-Content-Type-Options"] = scriptType, forAnHour, noSniff
	h.Set("Content-Security-Policy", "default-src 'none'")
	h["Content-Length"] = []string{strconv.Itoa(len(script))}
	_, _ = io.WriteString(w, script)
}

package callback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/proxy/webpush"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Name is that of the feature. What a configuration says of it beside its rooms are the
// [outbound.Hosts] that push services may be at; default those of the known browsers.
const Name = "call_back"

// RoomOptions are what a room's configuration says of calls: its visitors may leave, and are told
// by web push when it is their turn. A family does not call.
type RoomOptions struct {
	On bool `yaml:"call_back" default:"false" outside:"no" usage:"offer visitors to leave, and to be told by web push when it is their turn; needs claim_within"`
}

// Faults implements [config.Checker].
func (o RoomOptions) Faults(in *config.Room) (faults []config.Fault) {
	if o.On && in.Settings.ClaimWithin == 0 {
		faults = append(faults, config.Fault{Keys: []string{"call_back", "claim_within"}, Problem: "needs claim_within: for how long the slot of somebody who is called is kept"})
	}
	if o.On && in.IsFamily() {
		faults = append(faults, config.Fault{Keys: []string{"call_back", "path"}, Problem: "a room for each value of its path calls nobody back"})
	}
	return faults
}

const (
	// nearMinutes is how long somebody has to wait at most, in minutes, who is told that it is
	// almost their turn.
	nearMinutes = 2
	path        = "call-back"
)

// Feature calls the visitors of a gate.
type Feature struct {
	gate feature.Gate
	desk *Desk
	next outbound.Hosts
	at   atomic.Pointer[outbound.Hosts] // of push services

	messages metrics.Series
}

var callsKept = metrics.Gauge("fairdoor_calls", "Visitors of this gate who are to be called.")

// NewFeature returns what calls the visitors of a gate.
func NewFeature(g feature.Gate) *Feature {
	f := &Feature{gate: g, messages: g.Metrics().Series("fairdoor_call_messages_total", "Tries to send a message by web push, by result: sent, gone where the subscription has ended, refused, or failed.", "room", "result")}
	f.desk = Open(Options{Gate: caller{f}, Clock: g.Now, Dir: g.StateDir("calls"), Log: g.Log(), Survive: g.Survive, Go: g.Go})
	g.Metrics().Collect(func(tell metrics.Tell) { tell(callsKept, float64(f.desk.Calls())) }, callsKept)
	return f
}

// Choose implements [feature.Chooser].
func (f *Feature) Choose(_ context.Context, c feature.Configuration) error {
	f.next, _ = c.Options(Name).(outbound.Hosts)
	if f.next.IsEmpty() {
		f.next = webpush.Services()
	}
	return nil
}

// Use implements [feature.Chooser].
func (f *Feature) Use() {
	hosts := f.next
	f.at.Store(&hosts)
}

// Run implements [feature.Runner].
func (f *Feature) Run(ctx context.Context) { f.desk.Run(ctx) }

// part is what a room has to call its visitors.
type part struct {
	desk  *Desk
	calls *cookie.Codec // of the tickets of visitors who are to be called
	keys  []webpush.Key // by which push services know the gate
}

// Part implements [feature.Feature].
func (f *Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	if !config.OptionsOf[RoomOptions](&s.Config).On || s.Config.IsFamily() {
		return nil, nil
	}
	keys, err := webpush.KeysOf(s.Keys)
	if err != nil {
		return nil, err
	}
	calls, err := cookie.New(cookie.Config{Name: cookie.Name(".call." + s.Config.Name), Keys: s.Keys})
	if err != nil {
		return nil, fmt.Errorf("making the codec of calls: %w", err)
	}
	return &part{f.desk, calls, keys}, nil
}

// Dress implements [feature.Dresser].
func (p *part) Dress(o *templates.Options) { o.CallBack = p.keys[0].Public() }

// Keeps implements [feature.Keeper]: who is called need not stay.
func (p *part) Keeps(v *feature.Visit) bool {
	return p.desk.Has(VisitorOf(v.Setup.Config.Name, v.Ticket.ID))
}

// LetGo implements [feature.Keeper].
func (p *part) LetGo(v *feature.Visit) { p.desk.Drop(VisitorOf(v.Setup.Config.Name, v.Ticket.ID)) }

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	return []feature.Path{{Name: path, Serve: f.serve}, {Name: "call.js", Method: http.MethodGet, Serve: serveWorker}}
}

// serve answers requests by which visitors ask to be called, and those by which they come when they
// were called.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	of := f.gate.Room(r.URL.Query().Get("room"))
	var v feature.Visit
	var p *part
	if of != nil {
		p, _ = feature.PartOf[*part](of.Setup())
	}
	if p == nil || !of.Setup().IsOn(r.Host) {
		f.gate.Problem(w, r, http.StatusNotFound)
		return
	}
	switch {
	case r.Method == http.MethodPost && feature.Foreign(r):
		f.gate.Problem(w, r, http.StatusBadRequest)
	case r.Method != http.MethodPost && r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET, POST")
		f.gate.Problem(w, r, http.StatusMethodNotAllowed)
	case r.Method == http.MethodPost:
		f.ask(w, r, of, p)
	default:
		_ = v.Read(r, of, of.Setup(), f.gate.Now()) // who has cookies that cannot be read goes on as a newcomer
		f.comeBack(w, r, p, &v)
	}
}

// ask takes on a visitor who waits and asks to be called.
func (f *Feature) ask(w http.ResponseWriter, r *http.Request, of *feature.Room, p *part) {
	src, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webpush.MaxSubscription))
	var subscription webpush.Subscription
	if err == nil {
		subscription, err = webpush.Parse(src, *f.at.Load())
	}
	if err != nil {
		of.Setup().Log.Debug("subscription refused", requestid.Field(r), zap.Error(err))
		f.gate.Problem(w, r, http.StatusBadRequest)
		return
	}
	var v feature.Visit
	status := http.StatusConflict
	if v.Read(r, of, of.Setup(), f.gate.Now()) == nil {
		status = f.takeOn(r, p, &v, subscription)
	}
	if status != http.StatusNoContent {
		f.gate.Problem(w, r, status)
		return
	}
	w.Header()["Cache-Control"] = feature.NoStore
	w.WriteHeader(http.StatusNoContent)
}

// takeOn takes on a visitor, and returns the status of the answer. Somebody in the endless line is
// not called, and not told so.
func (f *Feature) takeOn(r *http.Request, p *part, v *feature.Visit, subscription webpush.Subscription) int {
	if v.Endless != nil {
		if t, _ := v.EndlessTicket(); t.State == queue.Waiting {
			return http.StatusNoContent
		}
	}
	c, ok := f.callOf(r, p, v)
	if !ok {
		return http.StatusConflict
	}
	c.Subscription, c.Service = subscription, subscription.Service(*f.at.Load())
	switch err := f.desk.Ask(c); {
	case errors.Is(err, ErrFull):
		return http.StatusServiceUnavailable
	case err != nil:
		return http.StatusConflict
	}
	return http.StatusNoContent
}

// callOf is the call of a visitor who sent a request, without their subscription. There is none for
// somebody who does not wait, nor for the holder of a pass, which the gate would have to see at
// each check-in.
func (f *Feature) callOf(r *http.Request, p *part, v *feature.Visit) (c Call, ok bool) {
	if v.Shut || v.Ahead != queue.NotAhead {
		return c, false
	}
	var place queue.Place
	v.Ticket, place = v.Room.Queue.Peek(r.Context(), v.Now, v.Request(false, false))
	if v.Ticket.State != queue.Waiting {
		return c, false
	}
	sealed, err := p.seal(v.Ticket)
	if err != nil { // which no ticket causes
		v.Setup.Log.Error("ticket not sealed", v.Setup.About(r, v.Ticket.ID), zap.Error(err))
		return c, false
	}
	code := v.Setup.Pages.Support.CodeOf(v.Ticket.ID)
	name, network := v.Setup.Config.Name, networks.Of(v.Setup.Trust.ClientAddr(r))
	return Call{
		Visitor: VisitorOf(name, v.Ticket.ID), Room: name, Ticket: sealed, Support: string(code[:]),
		Subject: v.Subject, Rank: v.Priority, From: network, Around: networks.SiteOf(network), Key: p.keys[0].Public(),
		Site: v.Setup.Trust.Scheme(r) + "://" + r.Host, Address: feature.WayIn(f.gate, v.Room, r, r.URL.Query().Get("to")), Language: v.Setup.Languages().Match(feature.HeaderValue(r.Header["Accept-Language"])),
		Ends: v.Now.Add(v.Room.Settings().QueueTicketTTL), Foretold: isNear(v.Room, &room.Decision{Ticket: v.Ticket, Place: place}),
	}, true
}

// comeBack has a visitor who was called go on to the room, with the ticket that they have by now.
// The query tells the path there.
func (f *Feature) comeBack(w http.ResponseWriter, r *http.Request, p *part, v *feature.Visit) {
	h := w.Header()
	if v.Ticket.State == queue.Waiting {
		if t, ok := f.recall(r.Context(), p, v); ok {
			if value, err := v.Seal(&t); err == nil {
				h["Set-Cookie"] = append(h["Set-Cookie"], value)
			}
		}
	}
	h["Cache-Control"] = feature.NoStore
	h.Set("Referrer-Policy", "strict-origin")
	h.Set("Location", feature.WayIn(f.gate, v.Room, r, r.URL.Query().Get("to")))
	w.WriteHeader(http.StatusSeeOther)
}

// recall is the ticket of a visitor who has come back: the one by which this gate has checked in
// for them, or, where another gate has, that of the slot that the store keeps for them. A device
// that the place has moved from gets none.
func (f *Feature) recall(ctx context.Context, p *part, v *feature.Visit) (queue.Ticket, bool) {
	if v.Room.Queue.HasMoved(v.Now, v.Ticket) {
		return queue.Ticket{}, false
	}
	if sealed, ok := f.desk.Take(VisitorOf(v.Setup.Config.Name, v.Ticket.ID)); ok {
		if t, ok := p.open(sealed); ok {
			t.Moved = v.Ticket.Moved
			return t, true
		}
	}
	return v.Room.Queue.Recall(ctx, v.Now, v.Request(false, false))
}

// seal seals a ticket as the desk keeps it.
func (p *part) seal(t queue.Ticket) (string, error) {
	payload, err := t.AppendBinary(nil)
	if err != nil {
		return "", fmt.Errorf("writing a ticket: %w", err)
	}
	return p.calls.Encode(payload)
}

// open is the ticket of seal.
func (p *part) open(sealed string) (t queue.Ticket, ok bool) {
	payload, _, ok := p.calls.Decode(sealed)
	return t, ok && t.UnmarshalBinary(payload) == nil
}

// isNear says whether it is almost the turn of a visitor who waits. In random nobody knows.
func isNear(r *feature.Room, d *room.Decision) bool {
	n, wait := r.Queue.Numbers(), estimate.Wait{}
	switch method := n.Settings.Method; {
	case method.HasExactLine() && d.Place.Number != 0:
		wait = n.WaitAt(d.Place)
	case method.OrdersBuckets() && !n.Settings.Event.Shuffling():
		wait = n.Wait(d.Ticket.ArrivedAt)
	}
	return wait.Known && wait.Minutes <= nearMinutes
}

// caller is the gate as its desk knows it.
type caller struct{ *Feature }

// room returns the room of a call, and what it has to call its visitors; nil if it calls nobody any
// more.
func (c caller) room(of *Call) (*feature.Room, *part) {
	r := c.gate.Room(of.Room)
	if r == nil {
		return nil, nil
	}
	p, _ := feature.PartOf[*part](r.Setup())
	return r, p
}

// CheckIn implements Gate.
func (c caller) CheckIn(ctx context.Context, now time.Time, call *Call) Stand {
	of, p := c.room(call)
	if p == nil {
		return Stand{State: Gone}
	}
	ticket, ok := p.open(call.Ticket)
	if !ok {
		return Stand{State: Gone}
	}
	ticket = of.Queue.Follow(now, ticket)
	q := room.Request{Ticket: ticket, Ask: room.Ask{By: room.StandIn}, Subject: call.Subject, Priority: call.Rank}
	if of.Queue.LimitsNetworks() {
		q.Network = call.From
	}
	d := c.gate.Visit(ctx, now, of, q)
	stand := standIn(of, now, &ticket, &d)
	stand.Ticket, _ = p.seal(d.Ticket) // the ticket of nobody is none
	return stand
}

// standIn is how a visitor with a ticket stands for whom the desk has checked in.
func standIn(r *feature.Room, now time.Time, t *queue.Ticket, d *room.Decision) Stand {
	s := r.Settings()
	stand := Stand{State: Gone, Due: s.RefreshInterval, Until: now.Add(s.QueueTicketTTL), Lasts: s.QueueTicketTTL}
	kept := d.Outcome == room.Kept && (d.Fresh || d.Ticket.Leased) // the gate may have ended before it was noted
	switch {
	case d.Outcome == room.OnHold:
		stand.State = Waits
	case d.Outcome == room.Queued && d.Ticket.ID != t.ID: // their place was used; nobody waits under the new one
		r.Leave(now, d.Ticket)
	case d.Outcome == room.Queued:
		stand.State, stand.Due = Waits, r.Queue.DueIn(now, d.Ticket)
		if isNear(r, d) {
			stand.State = Near
		}
	case r.Queue.Suspended():
		stand.State = Called
	case kept || d.Outcome == room.Admitted && d.Fresh:
		stand.State, stand.Until, stand.Lasts = Called, d.Ticket.Expires.Time(), s.SessionDuration
	case d.Outcome == room.Rejected:
		stand.State = Shut
	}
	return stand
}

// Push implements Gate.
func (c caller) Push(ctx context.Context, now time.Time, call *Call, m *Message) (time.Duration, error) {
	of, p := c.room(call)
	if p == nil {
		return 0, webpush.ErrGone
	}
	for _, key := range p.keys {
		if key.Public() == call.Key {
			sender := webpush.Sender{Hosts: *c.at.Load(), Clock: c.gate.Now}
			body := text(of.Setup(), call, m, of.Settings().QueueTicketTTL)
			wait, err := sender.Send(ctx, &call.Subscription, webpush.Message{Body: body, TTL: m.Until.Sub(now), Topic: call.Visitor}, key, call.Site)
			c.messages.With(call.Room, resultOf(err)).Inc()
			return wait, err
		}
	}
	return 0, webpush.ErrGone // the key that the subscription is for has been removed
}

// resultOf is what became of a try to send a message, for the metrics.
func resultOf(err error) string {
	switch {
	case err == nil:
		return "sent"
	case errors.Is(err, webpush.ErrGone):
		return "gone"
	case errors.Is(err, webpush.ErrRefused):
		return "refused"
	}
	return "failed"
}

// text is a message as the service worker of the page reads it.
func text(s *feature.Setup, c *Call, m *Message, kept time.Duration) []byte {
	words := s.Pages.Set.Called(c.Language, strconv.Itoa(int(kept/time.Minute)))
	said := map[Kind]string{Almost: words.Almost, Turn: words.Turn, Closed: words.Closed, Lapsed: words.Lapsed}
	text, _ := json.Marshal(map[string]any{ // plain values can always be encoded
		"title": words.Title, "body": said[m.Kind], "until": m.Until.UTC().Format(time.RFC3339), "last": m.Kind != Almost,
		"url": s.OwnAddress(path) + "&to=" + url.QueryEscape(c.Address),
	})
	return text
}

// serveWorker serves the service worker that shows visitors what they are told.
func serveWorker(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	feature.WriteScript(w, templates.CallWorker())
}

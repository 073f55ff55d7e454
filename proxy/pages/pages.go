// Package pages keeps what the people who wait before a room are shown: pages and JSON, rendered
// once for all who are told the same.
package pages

import (
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Room has the pages of a room in one configuration. They are rendered from the room's latest
// numbers: once for all visitors who are at the same point, about once a second, and not for each.
type Room struct {
	Name      string
	Set       *templates.Set                                // the room's own templates
	With      func(*templates.Page) (*templates.Set, error) // the same with another page
	Overrides *overrides.Room                               // has the pages of events, and their draws; nil for a family
	Log       *zap.Logger
	Support   SupportKey

	event atomic.Pointer[eventPage]
	mu    sync.Mutex // held while rendering
	kept  atomic.Pointer[rendered]
}

// Header values of pages and JSON; net/http does not change them.
var (
	HTMLType    = []string{"text/html; charset=utf-8"}
	JSONType    = []string{"application/json"}
	ProblemType = []string{"application/problem+json"}
)

// rendered holds the pages that were rendered from the same numbers. It does not change.
type rendered struct {
	numbers *estimate.Numbers
	byKey   map[Key]*Page
}

// Page is a page or JSON, with the headers that it has for every visitor.
type Page struct {
	*templates.Rendered
	Far bool // its visitors have no stream of events

	Kind, Language, Policy []string // header values; nil for none
}

// Key is what pages of the same numbers differ by.
type Key struct {
	Language string // "" for JSON
	rejected bool
	kept     bool // a slot is kept for the visitor
	held     bool // the visitor is in, and held
	SoldOut  bool // the visitor is rejected because nothing is left
	Unsent   bool // it answers a request that was not passed on, and cannot be asked again
	far      bool // the visitor has no stream of events
	rejoined bool
	newcomer bool            // they came since the numbers, where every check-in is a draw
	drawn    bool            // they have an entry in the draw of the event in force
	shape    templates.Shape // of the visitor's place
}

// Waiting returns the page in the key's language, or JSON if that is empty, for a visitor who
// waits, and the visitor's own values in it at now. Of the key only Language and Unsent are given.
func (p *Room) Waiting(r *room.Room, now time.Time, d *room.Decision, key Key) (*Page, templates.Visitor) {
	n := r.Numbers()
	v := templates.Visitor{
		LastUpdated:    d.Ticket.LastCheckIn.Time(),
		ArrivedAt:      d.Ticket.Came().Time(),
		PlacedAt:       d.Ticket.ArrivedAt.Time(),
		RefreshSeconds: Seconds(d.Ticket.RefreshInterval),
		LeftSeconds:    Seconds(r.DueIn(now, d.Ticket)),
		SupportCode:    p.Support.CodeOf(d.Ticket.ID),
	}
	place := d.Ticket.ArrivedAt
	if n.Settings.Event.Shuffling() { // the place is drawn, and told to nobody
		place = d.Ticket.Came()
	}
	v.BucketID = place.Floor(n.Settings.LongestBucket()).Time()
	if key.kept = d.Outcome == room.Kept; key.kept {
		v.RefreshSeconds, v.ClaimUntil = int(queue.WholeSeconds(n.Settings.RefreshInterval)/time.Second), d.Ticket.Expires.Time()
	}
	if key.held = d.Outcome == room.OnHold; key.held {
		v.LastUpdated, v.ArrivedAt = now, d.Ticket.AcceptedAt.Time()
		v.RefreshSeconds = Seconds(Jittered(&n.Settings, 0))
		v.LeftSeconds = v.RefreshSeconds
	}
	key.rejoined = d.Rejoined
	switch method := n.Settings.Method; {
	case key.held: // they have no place
	case method.OrdersBuckets():
		v.Place = placeByArrival(n, d)
	case method.HasExactLine():
		v.Place = placeOf(n, d)
	case method.Draws():
		key.newcomer = d.Ticket.ArrivedAt >= n.At
	}
	key.far = !key.kept && !key.held && far(n, &v.Place, key.newcomer)
	key.shape = v.Place.Shape()
	v.Entry = p.entryOf(&n.Settings.Event, &d.Ticket)
	key.drawn = v.Entry != ""
	return p.get(n, key, v.Place), v
}

// far reports whether a visitor who waits at the place asks, and has no stream of events: see
// [queue.Settings.Streams]. While gates have yet to tell a store again who waits, whose place is not
// known is far, too; a store that does not answer has told how many wait.
func far(n *estimate.Numbers, place *templates.Place, newcomer bool) bool {
	ahead, told := n.Waiting, time.Duration(place.WaitTime)*time.Minute
	switch {
	case place.Position > 0:
		ahead = place.Position - 1
	case n.Incomplete && !n.Failing:
		return true
	case n.Settings.Method.Draws():
		told = time.Duration(n.WaitToDraw(newcomer).Minutes) * time.Minute
	}
	return !n.Settings.Streams(ahead, told)
}

// Jittered is a refresh interval of somebody with so many people ahead, drawn anew.
func Jittered(s *queue.Settings, ahead int) time.Duration {
	interval := max(s.RefreshInterval, s.FarInterval(float64(ahead)))
	return time.Duration(float64(interval) * (1 + s.RefreshJitter*(2*rand.Float64()-1)))
}

// Seconds is how visitors are told a time to wait: rounded up, and never none.
func Seconds(d time.Duration) int { return max(int(queue.WholeSeconds(d)/time.Second), 1) }

// Refusal returns the page in the key's language, or JSON if that is empty, for a visitor who
// is rejected.
func (p *Room) Refusal(n *estimate.Numbers, key Key) *Page {
	key.rejected = true
	return p.get(n, key, templates.Place{})
}

// placeByArrival returns the visitor's place where it is reckoned from the time of arrival.
func placeByArrival(n *estimate.Numbers, d *room.Decision) templates.Place {
	ahead, known := n.Ahead(d.Ticket.ArrivedAt)
	p := templates.Place{UsersQueued: max(n.Waiting, 1)}
	if !known {
		return p
	}
	wait := n.Wait(d.Ticket.ArrivedAt)
	p.Position, p.UsersQueued = ahead+1, max(n.Waiting, ahead+1)
	p.WaitTimeKnown, p.WaitTime = wait.Known, wait.Minutes
	return p
}

// placeOf returns the visitor's place in an exact line, as the store has just told it.
// While the store does not answer, the place has only the number on the ticket and the
// room's numbers.
func placeOf(n *estimate.Numbers, d *room.Decision) templates.Place {
	p := templates.Place{TicketNumber: d.Ticket.Number, FirstWaitingNumber: n.Line.First, LastWaitingNumber: n.Line.Last, UsersQueued: max(n.Waiting, 1)}
	if d.Place.Number == 0 {
		return p
	}
	wait := n.WaitAt(d.Place)
	p.TicketNumber, p.Position, p.UsersQueued = d.Place.Number, d.Place.Ahead+1, d.Place.Length
	p.WaitTimeKnown, p.WaitTime = wait.Known, wait.Minutes
	// The room's numbers may be from before this visitor joined.
	p.LastWaitingNumber = max(p.LastWaitingNumber, d.Place.Number)
	if d.Place.Priority == 0 && (d.Place.Ahead == 0 || p.FirstWaitingNumber == 0) {
		p.FirstWaitingNumber = d.Place.Number - min(uint64(d.Place.Ahead), d.Place.Number-1)
	}
	return p
}

// get returns the page for the numbers and a key. The place is any that has the key's
// shape.
func (p *Room) get(n *estimate.Numbers, key Key, place templates.Place) *Page {
	if kept := p.kept.Load(); kept != nil && kept.numbers == n {
		if page, ok := kept.byKey[key]; ok {
			return page
		}
	}
	return p.render(n, key, place)
}

func (p *Room) render(n *estimate.Numbers, key Key, place templates.Place) *Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := &rendered{numbers: n, byKey: map[Key]*Page{}}
	if kept := p.kept.Load(); kept != nil && kept.numbers == n {
		if page, ok := kept.byKey[key]; ok {
			return page
		}
		maps.Copy(next.byKey, kept.byKey)
	}
	data := dataOf(p.Name, n, key, place)
	data.Event = p.eventOf(n)
	made := pageOf(data, key, p.Shown(&n.Settings.Event))
	made.Far = key.far
	next.byKey[key] = made
	p.kept.Store(next)
	return made
}

// pageOf makes the page in the key's language, or JSON if that is empty.
func pageOf(d templates.Data, key Key, set *templates.Set) *Page {
	switch {
	case key.Language == "" && key.Unsent:
		return &Page{Rendered: set.Problem(d), Kind: ProblemType}
	case key.Language == "":
		return &Page{Rendered: set.JSON(d), Kind: JSONType}
	}
	made := &Page{Rendered: set.Page(key.Language, d), Kind: HTMLType}
	if !set.Custom() {
		made.Language = []string{key.Language}
	}
	if policy := set.ContentSecurityPolicy(); policy != "" {
		made.Policy = []string{policy}
	}
	return made
}

// dataOf returns what a page says by the room's numbers: to a visitor who waits in the
// bucket or at the place, or to one who is rejected. The numbers may be older than the
// visitor's place. One who waits is therefore counted among those who wait, and is
// never told that the room rejects everyone: their page is to check in again.
func dataOf(name string, n *estimate.Numbers, key Key, place templates.Place) templates.Data {
	d := templates.Data{
		RoomName:           name,
		QueueingMethod:     n.Settings.Method.String(),
		QueueAll:           n.Settings.HeldByOperators() || n.Settings.HoldActive != queue.HoldOff,
		Held:               key.held,
		SoldOut:            key.SoldOut,
		ItemsLeftKnown:     n.Stock.Known(),
		ItemsLeft:          n.Stock.Left,
		Items:              string(n.Items()),
		Paused:             n.Paused,
		PausedSince:        n.PausedSinceTime(),
		UsersQueued:        max(n.Waiting, 1),
		ClaimWithinSeconds: int(queue.WholeSeconds(n.Settings.SlotKept()) / time.Second),
		ClaimRequired:      key.kept,
		PlaceKeptSeconds:   int(n.Settings.PlaceKept() / time.Second),
		Far:                key.far,
		Rejoined:           key.rejoined,
		NotSent:            key.Unsent,
		Message:            n.Settings.Message,
		Drawn:              key.drawn,
		Place:              place,
	}
	if n.Settings.Method.Draws() {
		wait := n.WaitToDraw(key.newcomer)
		d.WaitTimeKnown, d.WaitTime = wait.Known, wait.Minutes
		d.WaitTime25Percentile, d.WaitTime50Percentile, d.WaitTime75Percentile = wait.P25, wait.P50, wait.P75
	}
	switch {
	case key.rejected:
		d.QueueingMethod, d.QueueAll, d.UsersQueued = queue.Reject.String(), false, n.Waiting
	case n.Settings.RejectsAll():
		d.QueueingMethod = queue.FIFO.String()
	}
	return d
}

package proxy

import (
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// pages keeps what was rendered from a room's latest numbers. A page is rendered once
// for all visitors who are at the same point, about once a second, and not for each.
type pages struct {
	mu   sync.Mutex // held while rendering
	kept atomic.Pointer[rendered]
}

// rendered holds the pages that were rendered from the same numbers. It does not change.
type rendered struct {
	numbers *estimate.Numbers
	byKey   map[pageKey]*page
}

// page is a page or JSON, with the headers that it has for every visitor.
type page struct {
	*templates.Rendered
	kind, language, policy []string // header values; nil for none
}

// pageKey is what pages of the same numbers differ by.
type pageKey struct {
	language string // "" for JSON
	rejected bool
	kept     bool // a slot is kept for the visitor
	held     bool // the visitor is in, and held
	soldOut  bool // the visitor is rejected because nothing is left
	unsent   bool // it answers a request that was not passed on, and cannot be asked again
	rejoined bool
	newcomer bool            // they came since the numbers, where every check-in is a draw
	drawn    bool            // they have an entry in the draw of the event in force
	shape    templates.Shape // of the visitor's place
}

// waiting returns the page in the key's language, or JSON if that is empty, for a visitor who
// waits, and the visitor's own values in it at now. Of the key only the language and unsent are
// given.
func (rs *roomSetup) waiting(r *queueroom.Room, now time.Time, d *queueroom.Decision, key pageKey) (*page, templates.Visitor) {
	n := r.Numbers()
	v := templates.Visitor{
		LastUpdated:    d.Ticket.LastCheckIn.Time(),
		ArrivedAt:      d.Ticket.Came().Time(),
		PlacedAt:       d.Ticket.ArrivedAt.Time(),
		RefreshSeconds: wholeSeconds(d.Ticket.RefreshInterval),
		LeftSeconds:    wholeSeconds(r.DueIn(now, d.Ticket)),
	}
	place := d.Ticket.ArrivedAt
	if n.Settings.Event.Shuffling() { // the place is drawn, and told to nobody
		place = d.Ticket.Came()
	}
	v.BucketID = place.Floor(n.Settings.LongestBucket()).Time()
	if key.kept = d.Outcome == queueroom.Kept; key.kept {
		v.RefreshSeconds, v.ClaimUntil = int(queue.WholeSeconds(n.Settings.RefreshInterval)/time.Second), d.Ticket.Expires.Time()
	}
	if key.held = d.Outcome == queueroom.OnHold; key.held {
		v.LastUpdated, v.ArrivedAt = now, d.Ticket.AcceptedAt.Time()
		v.RefreshSeconds = wholeSeconds(jittered(&n.Settings))
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
	key.shape = v.Place.Shape()
	v.Entry = rs.entryOf(&n.Settings.Event, &d.Ticket)
	key.drawn = v.Entry != ""
	return rs.pages.get(rs, n, key, v.Place), v
}

// jittered is a refresh interval of the settings, drawn anew.
func jittered(s *queue.Settings) time.Duration {
	return time.Duration(float64(s.RefreshInterval) * (1 + s.RefreshJitter*(2*rand.Float64()-1)))
}

// wholeSeconds is how visitors are told a time to wait: rounded up, and never none.
func wholeSeconds(d time.Duration) int { return max(int(queue.WholeSeconds(d)/time.Second), 1) }

// refusal returns the page in the key's language, or JSON if that is empty, for a visitor who
// is rejected.
func (rs *roomSetup) refusal(n *estimate.Numbers, key pageKey) *page {
	key.rejected = true
	return rs.pages.get(rs, n, key, templates.Place{})
}

// placeByArrival returns the visitor's place where it is reckoned from the time of arrival.
func placeByArrival(n *estimate.Numbers, d *queueroom.Decision) templates.Place {
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
func placeOf(n *estimate.Numbers, d *queueroom.Decision) templates.Place {
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
func (p *pages) get(rs *roomSetup, n *estimate.Numbers, key pageKey, place templates.Place) *page {
	if kept := p.kept.Load(); kept != nil && kept.numbers == n {
		if page, ok := kept.byKey[key]; ok {
			return page
		}
	}
	return p.render(rs, n, key, place)
}

func (p *pages) render(rs *roomSetup, n *estimate.Numbers, key pageKey, place templates.Place) *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := &rendered{numbers: n, byKey: map[pageKey]*page{}}
	if kept := p.kept.Load(); kept != nil && kept.numbers == n {
		if page, ok := kept.byKey[key]; ok {
			return page
		}
		maps.Copy(next.byKey, kept.byKey)
	}
	data := dataOf(rs.cfg.Name, n, key, place)
	data.Event = rs.eventOf(n)
	made := rs.render(data, key, rs.shown(&n.Settings.Event))
	next.byKey[key] = made
	p.kept.Store(next)
	return made
}

// render makes the page in the key's language, or JSON if that is empty.
func (rs *roomSetup) render(d templates.Data, key pageKey, set *templates.Set) *page {
	switch {
	case key.language == "" && key.unsent:
		return &page{Rendered: set.Problem(d), kind: problemType}
	case key.language == "":
		return &page{Rendered: set.JSON(d), kind: jsonType}
	}
	p := &page{Rendered: set.Page(key.language, d), kind: htmlType}
	if !set.Custom() {
		p.language = []string{key.language}
	}
	if policy := set.ContentSecurityPolicy(); policy != "" {
		p.policy = []string{policy}
	}
	return p
}

// dataOf returns what a page says by the room's numbers: to a visitor who waits in the
// bucket or at the place, or to one who is rejected. The numbers may be older than the
// visitor's place. One who waits is therefore counted among those who wait, and is
// never told that the room rejects everyone: their page is to check in again.
func dataOf(name string, n *estimate.Numbers, key pageKey, place templates.Place) templates.Data {
	d := templates.Data{
		RoomName:           name,
		QueueingMethod:     n.Settings.Method.String(),
		QueueAll:           n.Settings.HeldByOperators() || n.Settings.HoldActive != queue.HoldOff,
		Held:               key.held,
		SoldOut:            key.soldOut,
		ItemsLeftKnown:     n.Stock.Known(),
		ItemsLeft:          n.Stock.Left,
		Paused:             n.Paused,
		UsersQueued:        max(n.Waiting, 1),
		ClaimWithinSeconds: int(queue.WholeSeconds(n.Settings.SlotKept()) / time.Second),
		ClaimRequired:      key.kept,
		PlaceKeptSeconds:   int(n.Settings.PlaceKept() / time.Second),
		Rejoined:           key.rejoined,
		NotSent:            key.unsent,
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

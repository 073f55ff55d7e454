package overrides

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// withEvents returns the document with the events, and with a draw for each that is shuffled. An
// event keeps its draw, also if its prequeue moves before it has begun, or if it was cancelled or not
// shuffled for a while: the hash of the seed may have been published.
func (d Document) withEvents(events event.List, at time.Time) Document {
	d.Events, d.Draws = events, slices.Clone(d.Draws)
	for i := range d.Draws {
		o := &d.Draws[i]
		if e := events.Named(o.Event); e >= 0 && events[e].Shuffle && at.Before(o.Prequeue) && d.drawOf(&events[e]) == nil {
			o.Prequeue = events[e].Prequeue
		}
	}
	for i, idle := len(d.Draws)-1, 0; i >= 0; i-- { // the newest first
		o := &d.Draws[i]
		if events.Named(o.Event) < 0 && at.Before(o.Prequeue) {
			idle++
		}
		if idle > mostIdle || at.Sub(o.Start) > event.DrawKept {
			d.Draws = slices.Delete(d.Draws, i, i+1)
		}
	}
	for i := range events {
		if e := &events[i]; e.Shuffle && at.Before(e.End) {
			d.draw(e)
		}
	}
	return d
}

// mostIdle is how many draws are kept of events that were cancelled before their prequeue.
const mostIdle = 50

// draw makes the draw of an event, if there is none yet.
func (d *Document) draw(e *event.Event) {
	if o := d.drawOf(e); o != nil {
		o.Start = e.Start
		return
	}
	d.Draws = append(d.Draws, event.Draw{Event: e.Name, Prequeue: e.Prequeue, Start: e.Start, Secret: event.NewSecret()})
}

// drawOf is the draw of an event; nil for none.
func (d *Document) drawOf(e *event.Event) *event.Draw {
	i := slices.IndexFunc(d.Draws, func(o event.Draw) bool { return o.Event == e.Name && o.Prequeue.Equal(e.Prequeue) })
	if i < 0 {
		return nil
	}
	return &d.Draws[i]
}

// Draw returns the draw of the event that has the name, or the latest of those that had it; nil for
// none.
func (r *Room) Draw(name string) *event.Draw {
	doc := r.document()
	if i := doc.Events.Named(name); i >= 0 && doc.Events[i].Shuffle {
		return doc.drawOf(&doc.Events[i])
	}
	var latest *event.Draw
	for i := range doc.Draws {
		if d := &doc.Draws[i]; d.Event == name && (latest == nil || latest.Prequeue.Before(d.Prequeue)) {
			latest = d
		}
	}
	return latest
}

// draw is the moment that a visitor has drawn who joins the prequeue of an event: see Draw of
// [room.Config].
func (r *Room) draw(e queue.ActiveEvent, id queue.ID) queue.Instant {
	d := r.Draw(e.Name)
	if d == nil || queue.At(d.Prequeue) != e.Prequeue {
		return 0
	}
	return d.Moment(d.Value(d.Entry(id)))
}

// noteEntry notes the entry of a visitor with a place that was drawn: see OnDrawn of [room.Config].
func (r *Room) noteEntry(t queue.Ticket) {
	draws := r.document().Draws
	for i := range draws {
		if entry := draws[i].EntryOf(t.ID, t.ArrivedAt); entry != "" {
			r.note(&draws[i], entry)
			return
		}
	}
}

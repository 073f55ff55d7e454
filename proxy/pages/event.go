package pages

import (
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// eventPage is the page that an event has of its own.
type eventPage struct {
	source string
	set    *templates.Set
}

// Shown are the templates that visitors are shown in an event: its own page, or else the room's.
func (p *Room) Shown(e *queue.ActiveEvent) *templates.Set {
	if !e.Page || p.Overrides == nil {
		return p.Set
	}
	source := p.Overrides.Page(e.Name)
	if kept := p.event.Load(); kept != nil && kept.source == source {
		return kept.set
	}
	made := &eventPage{source, p.setOf(e.Name, source)}
	p.event.Store(made)
	return made.set
}

// setOf returns the templates with a page of an event, or the room's if another version of the
// program has let through what cannot be used.
func (p *Room) setOf(event, source string) *templates.Set {
	page, err := templates.Parse([]byte(source))
	if err == nil {
		var set *templates.Set
		if set, err = p.With(page); err == nil {
			return set
		}
	}
	p.Log.Error("the page of an event cannot be used", zap.String("event", event), zap.Error(err))
	return p.Set
}

// entryOf is the name of a visitor's entry in the draw of the event in force; "" for who has none.
func (p *Room) entryOf(e *queue.ActiveEvent, t *queue.Ticket) string {
	if t.CameAt == 0 || !e.Shuffle || p.Overrides == nil {
		return ""
	}
	d := p.Overrides.Draw(e.Name)
	if d == nil {
		return ""
	}
	return d.EntryOf(t.ID, t.ArrivedAt)
}

// eventOf is the event in force as pages tell it.
func (p *Room) eventOf(n *estimate.Numbers) templates.Event {
	e := &n.Settings.Event
	if e.Name == "" {
		return templates.Event{}
	}
	told := templates.Event{
		Start: e.Start.Time().Format(time.RFC3339), End: e.End.Time().Format(time.RFC3339), Prequeueing: e.Prequeueing,
		UntilStart: e.MinutesUntilStart(n.At), UntilEnd: e.MinutesUntilEnd(n.At), Shuffle: e.Shuffle,
	}
	if d := p.Overrides.Draw(e.Name); e.Shuffle && d != nil {
		told.SeedHash = d.SeedHash()
		if !e.Prequeueing {
			told.Seed = d.Seed()
		}
	}
	return told
}

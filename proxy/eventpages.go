package proxy

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

// shown are the templates that visitors are shown in an event: its own page, or else the room's.
func (rs *roomSetup) shown(e *queue.ActiveEvent) *templates.Set {
	if !e.Page || rs.overrides == nil {
		return rs.set
	}
	source := rs.overrides.Page(e.Name)
	if kept := rs.eventPage.Load(); kept != nil && kept.source == source {
		return kept.set
	}
	made := &eventPage{source, rs.setOf(e.Name, source)}
	rs.eventPage.Store(made)
	return made.set
}

// setOf returns the templates with a page of an event, or the room's if another version of the program has let through what cannot be used.
func (rs *roomSetup) setOf(event, source string) *templates.Set {
	page, err := templates.Parse([]byte(source))
	if err == nil {
		var set *templates.Set
		if set, err = rs.pagesOf(page); err == nil {
			return set
		}
	}
	rs.log.Error("the page of an event cannot be used", zap.String("event", event), zap.Error(err))
	return rs.set
}

// entryOf is the name of a visitor's entry in the draw of the event in force; "" for who has none.
func (rs *roomSetup) entryOf(e *queue.ActiveEvent, t *queue.Ticket) string {
	if t.CameAt == 0 || !e.Shuffle || rs.overrides == nil {
		return ""
	}
	d := rs.overrides.Draw(e.Name)
	if d == nil {
		return ""
	}
	return d.EntryOf(t.ID, t.ArrivedAt)
}

// eventOf is the event in force as pages tell it.
func (rs *roomSetup) eventOf(n *estimate.Numbers) templates.Event {
	e := &n.Settings.Event
	if e.Name == "" {
		return templates.Event{}
	}
	told := templates.Event{
		Start: e.Start.Time().Format(time.RFC3339), End: e.End.Time().Format(time.RFC3339), Prequeueing: e.Prequeueing,
		UntilStart: e.MinutesUntilStart(n.At), UntilEnd: e.MinutesUntilEnd(n.At), Shuffle: e.Shuffle,
	}
	if d := rs.overrides.Draw(e.Name); e.Shuffle && d != nil {
		told.SeedHash = d.SeedHash()
		if !e.Prequeueing {
			told.Seed = d.Seed()
		}
	}
	return told
}

// sweepEvery is how often the entries of old draws are removed.
const sweepEvery = 24 * time.Hour

// sweepDraws removes the entries of old draws, now and then, until the gate is closed.
func (g *Gate) sweepDraws() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := g.draws.Sweep(time.Now()); err != nil {
			g.o.Log.Error("entries of old draws not removed", zap.Error(err))
		}
		select {
		case <-g.sync.Done():
			return
		case <-ticker.C:
		}
	}
}

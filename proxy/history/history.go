// Package history keeps the record of a gate's rooms, of days; see package record.
package history

import (
	"context"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// observeEvery is how often the record of the rooms' days is told how they stand.
const observeEvery = time.Second

// Feature keeps the record of a gate's rooms.
type Feature struct {
	gate   feature.Gate
	record *record.Record
}

// NewFeature returns what keeps the record of a gate's rooms, and closes it with the gate.
func NewFeature(g feature.Gate, of *record.Record) *Feature { return &Feature{g, of} }

// Part implements [feature.Feature]: every room has a record.
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return nil, nil }

// Run implements [feature.Runner]: it tells the record how the rooms stand.
func (f *Feature) Run(ctx context.Context) {
	ticker := time.NewTicker(observeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.observe()
		}
	}
}

// observe tells the record how the rooms stand now.
func (f *Feature) observe() {
	defer f.gate.Survive("record")
	now := f.gate.Now()
	var samples []record.Sample
	for of := range f.gate.Groups() {
		samples = append(samples, f.sample(now, &of))
	}
	f.record.Observe(now, samples...)
}

// Close implements [feature.Closer]: it ends the record with how the rooms stand at the end.
func (f *Feature) Close() {
	f.observe()
	f.record.Close(f.gate.Now())
}

// sample is how a room stands, or all rooms of a family together.
func (f *Feature) sample(now time.Time, of *feature.Group) record.Sample {
	setup, all := of.Setup, of.Gone
	has := string(setup.Config.Settings.Items)
	s, alone := record.Sample{Items: map[string]string{}, Room: setup.Config.Name, At: now, Known: true, OriginFailing: setup.Origin.Failing()}, true
	for i, r := range of.Rooms {
		status, at := r.Queue.Status(now)
		if r.Queue.StoreFailing() {
			s.Known, s.StoreFailing = false, true
		} else {
			at = status.Now
		}
		if i == 0 || at.Time().After(s.At) {
			s.At = at.Time()
		}
		s.Known = s.Known && !status.Recovering
		addStanding(&s.Standing, r, &status)
		switch items := string(r.Queue.Numbers().Items()); {
		case r.Queue.Name() == setup.Config.Name || items == has:
			s.Items[""] = items
		default:
			s.Items[r.Queue.Name()] = items
		}
		alone = alone && r.Queue.Numbers().Nodes <= 1
		all.Add(r)
	}
	s.Counted = countedOf(of, &all)
	s.Counted.Alone = alone
	for _, u := range setup.Config.Addresses() {
		name := config.OriginName(u)
		s.Counted.OriginErrors += f.gate.Metrics().OriginFailures(name)
		s.Counted.Origin = s.Counted.Origin.Plus(f.gate.Metrics().OriginAnswers(name))
	}
	return s
}

// addStanding adds how a room stands.
func addStanding(to *record.Standing, r *feature.Room, status *queue.Status) {
	settings, numbers := r.Queue.Settings(), r.Queue.Numbers()
	to.Active += status.Active
	to.Queued += status.Present
	to.Open += status.Open
	to.Admitted += status.Admitted
	to.TotalActiveUsers += settings.Slots()
	to.NewUsersPerMinute += settings.NewUsersPerMinute
	if settings.Event.Name != "" {
		to.Event, to.Prequeue = settings.Event.Name, settings.Event.Prequeueing
	}
	to.Held = to.Held || settings.HeldByOperators() || settings.HoldActive != queue.HoldOff
	to.SoldOut = to.SoldOut || settings.SoldOut(numbers.Stock)
	if numbers.Queueing() {
		to.TellsMinutes = max(to.TellsMinutes, numbers.LongestWait().Minutes)
	}
}

// countedOf is what has been counted of a room, or of a family and its rooms.
func countedOf(of *feature.Group, all *feature.Tally) record.Counted {
	count := func(what metrics.Result) int { return int(of.Counted(what)) }
	return record.Counted{
		LetIn: of.Counted(metrics.Admitted), Waits: all.Waited, Told: all.Told, Score: scoreOf(&all.Score),
		Refused: record.Refused{
			Busy: count(metrics.Busy), Rejected: count(metrics.Rejected), Withheld: count(metrics.Withheld),
			Uninvited: count(metrics.Uninvited), BadTokens: int(of.Refusals(metrics.BadToken)), BadTickets: int(of.Refusals(metrics.BadTicket)),
			Crowded: int(of.Refusals(metrics.Crowded)),
		},
		StoreErrors: all.Unanswered, WithoutStore: all.LetIn, GaveUp: all.GaveUp,
	}
}

func scoreOf(s *estimate.Score) record.Score {
	return record.Score{Visitors: s.Visitors, InTime: s.InTime, Near: s.Near, ToldMinutes: s.ToldMinutes, WaitedMinutes: s.WaitedMinutes}
}

// NoteChange implements [feature.Chronicler].
func (f *Feature) NoteChange(room string, c overrides.Change) { f.record.Note(room, record.Change(c)) }

// Excerpt is that of the record, with how the rooms stand now.
func (f *Feature) Excerpt(room string, from, to time.Time) record.Excerpt {
	f.observe()
	return f.record.Excerpt(room, from, to)
}

// Has is that of the record.
func (f *Feature) Has(room string) bool { return f.record.Has(room) }

// Note is that of the record.
func (f *Feature) Note(room string, c record.Change) { f.record.Note(room, c) }

package proxy

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// observeEvery is how often the record of the rooms' days is told how they stand.
const observeEvery = time.Second

// keep tells the record of the rooms' days how they stand, until the gate is closed.
func (h history) keep() {
	ticker := time.NewTicker(observeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-h.sync.Done():
			return
		case <-ticker.C:
			h.observe()
		}
	}
}

// observe tells the record of the rooms' days how they stand now.
func (h history) observe() {
	defer services{h.Gate}.Survive("record")
	s, now := h.current.Load(), h.o.Clock()
	samples := make([]record.Sample, len(s.guards))
	for i, of := range s.guards {
		samples[i] = h.sample(now, s.setups[i], of)
	}
	h.o.History.Observe(now, samples...)
}

// close ends the record of the rooms' days with how they stand at the end.
func (h history) close() {
	h.observe()
	h.o.History.Close(h.o.Clock())
}

// sample is how a room stands, or all rooms of a family together.
func (h history) sample(now time.Time, rs *feature.Setup, of guard) record.Sample {
	rooms, all := of.rooms()
	s := record.Sample{Room: rs.Config.Name, At: now, Known: true, OriginFailing: rs.Origin.Failing()}
	for i, r := range rooms {
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
		all.add(r)
	}
	s.Counted = countedOf(of, &all)
	for _, u := range rs.Config.Addresses() {
		s.Counted.OriginErrors += h.metrics.OriginFailures(originKey(u))
	}
	return s
}

// addStanding adds how a room stands.
func addStanding(to *record.Standing, r *room, status *queue.Status) {
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
func countedOf(of guard, all *tally) record.Counted {
	count := func(what metrics.Result) int { return int(of.Counted(what)) }
	return record.Counted{
		LetIn: of.Counted(metrics.Admitted), Waits: all.waited, Told: all.told, Score: scoreOf(&all.score),
		Refused: record.Refused{
			Busy: count(metrics.Busy), Rejected: count(metrics.Rejected), Withheld: count(metrics.Withheld),
			Uninvited: count(metrics.Uninvited), BadTokens: int(of.Refusals(metrics.BadToken)), BadTickets: int(of.Refusals(metrics.BadTicket)),
			Crowded: int(of.Refusals(metrics.Crowded)),
		},
		StoreErrors: all.unanswered, WithoutStore: all.letIn,
	}
}

func scoreOf(s *estimate.Score) record.Score {
	return record.Score{Visitors: s.Visitors, InTime: s.InTime, Near: s.Near, ToldMinutes: s.ToldMinutes, WaitedMinutes: s.WaitedMinutes}
}

// changes returns the func that has changes of a room's configuration be recorded.
func (h history) changes(name string) func(overrides.Change) {
	return func(c overrides.Change) { h.o.History.Note(name, record.Change(c)) }
}

// history is the record of the rooms' days as the admin API knows it.
type history struct{ *Gate }

// Excerpt implements admin.Record, with how the rooms stand now.
func (h history) Excerpt(room string, from, to time.Time) record.Excerpt {
	h.observe()
	return h.o.History.Excerpt(room, from, to)
}

// Has implements admin.Record.
func (h history) Has(room string) bool { return h.o.History.Has(room) }

// Note implements admin.Record.
func (h history) Note(room string, c record.Change) { h.o.History.Note(room, c) }

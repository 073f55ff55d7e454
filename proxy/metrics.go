package proxy

import (
	"iter"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

// metricsGate is a gate as the metrics know it.
type metricsGate struct{ *Gate }

// Groups implements metrics.Gate.
func (g metricsGate) Groups() iter.Seq[metrics.Group] {
	return func(yield func(metrics.Group) bool) {
		s := g.current.Load()
		for i, rs := range s.setups {
			if !yield(g.group(rs, s.guards[i])) {
				return
			}
		}
	}
}

func (g metricsGate) group(rs *feature.Setup, of guard) metrics.Group {
	rooms, gone := of.rooms()
	group := metrics.Group{Name: rs.Config.Name, Unanswered: gone.unanswered, LetIn: gone.letIn, Told: gone.score.Visitors, InTime: gone.score.InTime, Near: gone.score.Near}
	if rs.Config.IsFamily() {
		group.MaxRooms = rs.Config.MaxRooms
	}
	for _, r := range rooms {
		group.Rooms = append(group.Rooms, r.Queue)
		group.Streams += g.events.Count(forEvents(&r.Room))
		for _, line := range rs.EndlessLines {
			group.Streams += g.events.Count(endlessEvents{forEvents(&r.Room), line})
		}
	}
	return group
}

// Webhooks implements metrics.Gate.
func (g metricsGate) Webhooks() []webhooks.Status { return webhooksOf(g.Gate).Statuses() }

// RecordFailing implements metrics.Gate.
func (g metricsGate) RecordFailing() bool { return services{g.Gate}.recordFailing() }

// Waitlists implements metrics.Gate.
func (g metricsGate) Waitlists() iter.Seq[metrics.Waitlist] {
	return func(yield func(metrics.Waitlist) bool) {
		for l := range waitlistsOf(g.Gate) {
			if !yield(l.Record()) {
				return
			}
		}
	}
}

// Origins implements metrics.Gate.
func (g metricsGate) Origins() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for address, o := range g.current.Load().origins {
			if !yield(address, o.Failing()) {
				return
			}
		}
	}
}

package proxy

import (
	"iter"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
)

// metricsGate is a gate as the metrics know it.
type metricsGate struct{ *Gate }

// Groups implements metrics.Gate.
func (g metricsGate) Groups() iter.Seq[metrics.Group] {
	return func(yield func(metrics.Group) bool) {
		for of := range (services{g.Gate}).Groups() {
			if !yield(g.group(&of)) {
				return
			}
		}
	}
}

func (g metricsGate) group(of *feature.Group) metrics.Group {
	gone, config := &of.Gone, &of.Setup.Config
	group := metrics.Group{Name: config.Name, Unanswered: gone.Unanswered, LetIn: gone.LetIn, Told: gone.Score.Visitors, InTime: gone.Score.InTime, Near: gone.Score.Near}
	if config.IsFamily() {
		group.MaxRooms = config.MaxRooms
	}
	for _, r := range of.Rooms {
		group.Rooms = append(group.Rooms, r.Queue)
		group.Streams += g.events.Count(forEvents(r))
		for _, line := range of.Setup.EndlessLines {
			group.Streams += g.events.Count(endlessEvents{forEvents(r), line})
		}
	}
	return group
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

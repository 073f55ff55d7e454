package admin

import (
	"fmt"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// originJSON is how an origin has done lately with the requests of visitors who are in, as this
// gate has measured it.
type originJSON struct {
	Requests      int     `json:"requests"`
	LatencyP50    float64 `json:"latencyP50Seconds"`
	LatencyP95    float64 `json:"latencyP95Seconds"`
	Errors        float64 `json:"errors"`        // share of the requests
	FactorHere    float64 `json:"factorHere"`    // what this gate would leave of new_users_per_minute
	OverItsBounds bool    `json:"overItsBounds"` // the latency or the errors are
}

// addPressure says how the origin is doing, and whether the room counts.
func (s *StatusJSON) addPressure(n *estimate.Numbers, slowed room.Slowdown) {
	s.OpenToAll, s.AdmissionFactor, s.Explanation = n.OpenToAll, slowed.Factor, explain(n, slowed.Factor)
	if n.OpenToAll {
		s.ReasonText = s.Explanation
	}
	if f := slowed.Here; n.Settings.Measures() {
		s.Origin = &originJSON{Requests: f.Requests, LatencyP50: f.Median.Seconds(), LatencyP95: f.Latency.Seconds(), Errors: f.Errors,
			FactorHere: f.Factor, OverItsBounds: f.Slow || f.Failing}
	}
}

// explain says in words what admission control and queue_when do to the room; "" for nothing.
func explain(n *estimate.Numbers, factor float64) string {
	switch s := &n.Settings; {
	case n.OpenToAll:
		return fmt.Sprintf("Open to everybody, and nobody is counted: fewer than %d newcomers a minute come. From then on the room counts and queues.", s.QueueWhen)
	case factor < 1:
		return fmt.Sprintf("Admissions are slowed to %.0f of %d a minute, because the origin is slow or fails. They recover by themselves.",
			queue.Slowed(s.NewUsersPerMinute, factor), s.NewUsersPerMinute)
	case s.QueueWhen > 0:
		return fmt.Sprintf("Counting, because many come or people wait. The room is open to everybody again once nobody has waited, and fewer than %d newcomers a minute have come, for %s.",
			s.OpensAgainBelow(), queue.CalmTime)
	case s.Shadow:
		return "Everybody is let in, and counted. See the room's proposal for its limits."
	}
	return ""
}

// proposalJSON is what the limits of a room in shadow mode could be.
type proposalJSON struct {
	From                 time.Time `json:"from"`
	Until                time.Time `json:"until"`
	PeakActiveUsers      int       `json:"peakActiveUsers"`
	PeakNewUsersInMinute int       `json:"peakNewUsersInAMinute"`
	MeanStaySeconds      float64   `json:"meanStaySeconds"`
	KneeSeen             bool      `json:"kneeSeen"`
	KneeActiveUsers      int       `json:"kneeActiveUsers,omitempty"`
	LatencyAtKnee        float64   `json:"latencyAtKneeSeconds,omitempty"`
	TotalActiveUsers     int       `json:"total_active_users"`
	NewUsersPerMinute    int       `json:"new_users_per_minute"`
	Sightings            int       `json:"sightings"`
	Explanation          string    `json:"explanation"`
}

// getProposal proposes limits for a room in shadow mode, by what this gate has seen.
func (*api) getProposal(w http.ResponseWriter, _ *http.Request, of Room) {
	if !of.Queue().Numbers().Settings.Shadow {
		reply.Problem(w, http.StatusNotFound, "The room is not in shadow mode. Set queueing_method to passthrough and shadow to true.")
		return
	}
	p, seen := of.Queue().Proposal()
	if !seen {
		reply.Problem(w, http.StatusNotFound, "Nobody has come since this gate began to look: there is nothing to propose limits by.")
		return
	}
	reply.JSON(w, proposalJSON{
		From: p.Since.Time(), Until: p.Until.Time(), PeakActiveUsers: p.PeakActive, PeakNewUsersInMinute: p.PeakArrivals,
		MeanStaySeconds: p.Stay.Seconds(), KneeSeen: !p.AtLeast, KneeActiveUsers: p.Knee, LatencyAtKnee: p.Latency.Seconds(),
		TotalActiveUsers: p.TotalActive, NewUsersPerMinute: p.NewPerMinute, Sightings: p.Sightings, Explanation: explainProposal(&p),
	})
}

func explainProposal(p *pressure.Proposal) string {
	if p.AtLeast {
		return fmt.Sprintf("The origin has not been seen to slow down: it bore %d people at a time and %d newcomers in a minute, and may bear more. The limits can be at least that.",
			p.PeakActive, p.PeakArrivals)
	}
	return fmt.Sprintf("With more than %d people the origin gets slower. Each stays for %s on average, so %d newcomers a minute fill it.",
		p.Knee, p.Stay.Round(time.Second), p.NewPerMinute)
}

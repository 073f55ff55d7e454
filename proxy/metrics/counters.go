package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Result is what became of a request in a room.
type Result int

// The results.
const (
	Accepted  Result = iota // the visitor was in already
	Admitted                // the visitor was let in
	Queued                  // the visitor waits
	Rejected                // the room takes nobody
	Held                    // the visitor is in, and those who are in are held
	Busy                    // the visitor would have had to wait, and the request could not
	Withheld                // a part of a page, asked for without being in
	Uninvited               // the room lets in guests or holders of passes only, and the visitor was none
	Exempt                  // the request passed the room by
	Left                    // the visitor said goodbye
	Revoked                 // the origin ended the session
	Endless                 // the visitor is in the endless line
	Unproven                // the visitor has to prove first that they may join
	Shed                    // the request got no answer, in a flood
	results
)

var resultNames = [results]string{"accepted", "admitted", "queued", "rejected", "held", "busy", "withheld", "uninvited", "exempt", "left", "revoked", "endless", "challenged", "shed"}

// Refusal is a try to get ahead that has got nobody anything.
type Refusal int

// The refusals.
const (
	BadToken  Refusal = iota // a token in the site's name that does not count
	BadTicket                // a ticket that does not open: forged, altered, or of a key that is not known any more
	Crowded                  // a place that does not count, as max_waiting_per_network has it
	Elsewhere                // a ticket that is bound to another network or user agent
	refusals
)

// Counters are those of a room, or of all rooms of a family.
type Counters struct {
	decisions [results]Counter
	waits     prometheus.Observer
	refused   [refusals]Counter
	of        string
}

// Room returns the counters of a room or a family.
func (m *Metrics) Room(name string) Counters {
	c := Counters{waits: m.waits.WithLabelValues(name), of: name}
	for i, of := range m.refused {
		c.refused[i] = of.With(name)
	}
	for i, outcome := range resultNames {
		c.decisions[i] = m.decisions.With(name, outcome)
	}
	return c
}

// Of is the name of the room or the family.
func (c *Counters) Of() string { return c.of }

// String is the result as metrics have it.
func (r Result) String() string { return resultNames[r] }

// Count counts a request by what became of it.
func (c *Counters) Count(what Result) { c.decisions[what].Inc() }

// Refuse counts a try to get ahead.
func (c *Counters) Refuse(what Refusal) { c.refused[what].Inc() }

// Counted returns how many requests became that.
func (c *Counters) Counted(what Result) uint64 { return valueOf(c.decisions[what]) }

// Refusals returns how many such tries there were.
func (c *Counters) Refusals(what Refusal) uint64 { return valueOf(c.refused[what]) }

// valueOf reads a counter.
func valueOf(c Counter) uint64 {
	var m dto.Metric
	if c.Write(&m) != nil {
		return 0
	}
	return uint64(m.GetCounter().GetValue())
}

// sumOf is how many times a histogram of seconds has been told, and what it was told, added up.
func sumOf(o prometheus.Observer) (count uint64, seconds float64) {
	var m dto.Metric
	if h, ok := o.(prometheus.Metric); !ok || h.Write(&m) != nil {
		return 0, 0
	}
	return m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum()
}

// CountDecision counts a request by what became of it by the decision of the queue, and how long
// its visitor had waited.
func (c *Counters) CountDecision(what Result, d room.Decision) {
	if d.Fresh && d.Waited > 0 {
		c.waits.Observe(d.Waited.Seconds())
	}
	if d.Crowded {
		c.Refuse(Crowded)
	}
	c.Count(what)
}

// ResultOf is what becomes of a request by the decision of the queue.
func ResultOf(d room.Decision) Result {
	switch {
	case d.Outcome == room.Queued:
		return Queued
	case d.Outcome == room.Rejected:
		return Rejected
	case d.Outcome == room.OnHold:
		return Held
	case d.Outcome == room.Busy:
		return Busy
	case d.Fresh:
		return Admitted
	}
	return Accepted
}

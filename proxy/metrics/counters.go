package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom-gate/anteroom/queue/room"
)

// Result is what became of a request in a room.
type Result int

// The results.
const (
	Accepted  Result = iota // the visitor was in already
	Admitted                // the visitor was let in
	Queued                  // the visitor waits
	Rejected                // the room takes nobody
	Busy                    // the visitor would have had to wait, and the request could not
	Withheld                // a part of a page, asked for without being in
	Uninvited               // the room lets in guests only, and the visitor was none
	Exempt                  // the request passed the room by
	Left                    // the visitor said goodbye
	Revoked                 // the origin ended the session
	results
)

var resultNames = [results]string{"accepted", "admitted", "queued", "rejected", "busy", "withheld", "uninvited", "exempt", "left", "revoked"}

// Counters are those of a room, or of all rooms of a family.
type Counters struct {
	decisions [results]prometheus.Counter
	waits     prometheus.Observer
	badTokens prometheus.Counter
}

// Room returns the counters of a room or a family.
func (m *Metrics) Room(name string) Counters {
	c := Counters{waits: m.waits.WithLabelValues(name), badTokens: m.badTokens.WithLabelValues(name)}
	for i, outcome := range resultNames {
		c.decisions[i] = m.decisions.WithLabelValues(name, outcome)
	}
	return c
}

// Count counts a request by what became of it.
func (c *Counters) Count(what Result) { c.decisions[what].Inc() }

// CountBadToken counts a request with a token of the site's that does not count.
func (c *Counters) CountBadToken() { c.badTokens.Inc() }

// CountDecision counts a request by the decision of the queue, and how long its visitor
// had waited.
func (c *Counters) CountDecision(d room.Decision) {
	if d.Fresh && d.Waited > 0 {
		c.waits.Observe(d.Waited.Seconds())
	}
	c.Count(resultOf(d))
}

func resultOf(d room.Decision) Result {
	switch {
	case d.Outcome == room.Queued:
		return Queued
	case d.Outcome == room.Rejected:
		return Rejected
	case d.Outcome == room.Busy:
		return Busy
	case d.Fresh:
		return Admitted
	}
	return Accepted
}

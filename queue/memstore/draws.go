package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// draws remembers who has drawn for a slot in vain, and until when they may not draw
// again, whichever node they ask.
type draws struct {
	until  map[queue.ID]queue.Instant
	forgot queue.Instant // when draws of the past were last dropped
}

// draw reports whether the claimant draws now and wins. A draw in vain is remembered.
func (d *draws) draw(c queue.Claim, open int, now queue.Instant) bool {
	if d.until[c.ID] > now {
		return false
	}
	if open == 0 && c.Due > now && len(d.until) < queue.MaxDraws {
		d.until[c.ID] = c.Due
	}
	return open > 0
}

// forget drops the draws of the past, once a second.
func (d *draws) forget(now queue.Instant) {
	if now.Sub(d.forgot) < time.Second {
		return
	}
	d.forgot = now
	for id, due := range d.until {
		if due <= now {
			delete(d.until, id)
		}
	}
}

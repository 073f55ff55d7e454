package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// mostDraws is how many draws are remembered at most.
const mostDraws = queue.MaxDraws

// draws are the visitors who have raced for a slot in vain, until when they may
// race again, whichever nodes they ask.
type draws struct {
	until  map[queue.ID]queue.Instant
	forgot queue.Instant
}

// may says whether the claimant races now, and notes it if it is in vain.
func (d *draws) may(c queue.Claim, open int, now queue.Instant) bool {
	if d.until[c.ID] > now {
		return false
	}
	if open == 0 && c.Due > now && len(d.until) < mostDraws {
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

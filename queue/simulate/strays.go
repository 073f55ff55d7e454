package simulate

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// strays are the requests of clients without cookies, of whom each asks once.
type strays struct {
	run  *run
	rng  *rand.Rand
	next float64 // when the next one comes, in milliseconds since the start; used if there are any

	requests, admissions int
	held                 time.Duration // of slot-time
}

func newStrays(r *run) strays { return strays{run: r, rng: random(r.Config, streamStrays)} }

// come lets those come whose moment has passed, one after another with exponential gaps.
func (s *strays) come(ctx context.Context) {
	if s.run.Strays == 0 {
		return
	}
	for ; s.next <= float64(s.run.now-start); s.next += s.rng.ExpFloat64() * 1000 / s.run.Strays {
		s.requests++
		s.run.nodes.any().visit(ctx, stray, queue.Ticket{})
	}
}

// note notes an answer to one of them.
func (s *strays) note(d room.Decision) {
	if d.Outcome == room.Admitted {
		s.admissions++
		s.held += d.Ticket.Expires.Sub(d.Ticket.AcceptedAt)
	}
}

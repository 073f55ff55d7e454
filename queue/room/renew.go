package room

import (
	"context"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// renewInStore has the store renew the place of an id in the exact line, and its session if
// that is asked for. It takes in how long the session lasts.
func (vs *visits) renewInStore(ctx context.Context, now time.Time, id queue.ID, session bool) error {
	g, err := vs.put(ctx, now, queue.Claim{ID: id, NoSlot: true, NoPlace: true, Renew: session})
	if err == nil && g.Verdict == queue.Held {
		vs.sessions.learn(vs.clock.at(now), id, vs.conditions.rules.Load().SessionEnd(g))
	}
	return err
}

// touch is [Room.Touch].
func (vs *visits) touch(now time.Time, t queue.Ticket) bool {
	return vs.sessions.touch(vs.clock.at(now), vs.conditions.rules.Load(), &t)
}

// edgeAdmission is [Room.EdgeAdmission].
func (vs *visits) edgeAdmission(now time.Time, t *queue.Ticket) time.Duration {
	lasts := vs.conditions.rules.Load().EdgeAdmission
	if lasts == 0 || t.State != queue.Accepted || t.Leased {
		return 0
	}
	return max(min(lasts, t.Expires.Sub(vs.clock.at(now))), 0)
}

// connect is [Room.Connect].
func (vs *visits) connect(ctx context.Context, now time.Time, t queue.Ticket) bool {
	return vs.touch(now, t) || vs.renewInStore(ctx, now, t.ID, true) == nil && vs.touch(now, t)
}

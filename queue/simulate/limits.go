package simulate

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// limits checks the room's limits as an origin would from its log: see [measure.Limits]. A
// session lasts one session duration from the id's last request, or as long as its ticket
// says if that has not come back.
type limits struct {
	settings queue.Settings
	seen     *measure.Limits[queue.ID]

	// uncounted are those who were let in while the room was open to all, and whom it has not
	// counted since. Its limits do not hold for them.
	uncounted map[queue.ID]bool

	overActive int
	overMinute int

	// Of the minute of the latest change, the highest limit that was in force in it.
	changed queue.Instant
	highest int
}

func newLimits(s queue.Settings) limits {
	return limits{settings: s, seen: measure.NewLimits[queue.ID](), uncounted: map[queue.ID]bool{}}
}

// letThrough notes a request that reached the origin with a ticket. If the ticket's id is a
// new one, it was admitted at the given moment, which may lie in the minute before
// for an answer that was under way as that ended.
func (l *limits) letThrough(now, admitted queue.Instant, t *queue.Ticket) {
	if t.Uncounted {
		l.uncounted[t.ID] = true
		return
	}
	fresh, open := l.seen.Seen(now, t.ID, l.until(now, t)), l.uncounted[t.ID]
	delete(l.uncounted, t.ID)
	if !fresh || open {
		return
	}
	inMinute := l.seen.Admitted(admitted)
	l.overActive = max(l.overActive, l.seen.Active()-l.settings.Slots())
	l.overMinute = max(l.overMinute, inMinute-l.perMinute(admitted.Floor(time.Minute)))
}

// until is how long the session of a ticket lasts after a request.
func (l *limits) until(now queue.Instant, t *queue.Ticket) queue.Instant {
	switch {
	case t.Leased:
		return t.Expires
	case l.settings.DisableSessionRenewal:
		return t.AcceptedAt.Add(l.settings.SessionDuration)
	default:
		return now.Add(l.settings.SessionDuration)
	}
}

// perMinute is how many may be admitted in a minute.
func (l *limits) perMinute(minute queue.Instant) int {
	if minute <= l.changed {
		return max(l.highest, l.settings.NewUsersPerMinute)
	}
	return l.settings.NewUsersPerMinute
}

// follow goes by other settings from now on.
func (l *limits) follow(now queue.Instant, s queue.Settings) {
	minute := now.Floor(time.Minute)
	l.changed, l.highest = minute, l.perMinute(minute)
	l.settings = s
}

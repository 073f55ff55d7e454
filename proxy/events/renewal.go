package events

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// renewal is the end of a stream shortly before the event of a shuffled prequeue starts, at a
// moment of its own: see [queue.Settings.Renewal]. Its page comes again, and so gets a ticket with
// which every gate knows that its visitor was present then.
type renewal struct {
	opened queue.Instant // when the stream was
	from   queue.Instant // of the renewal that at belongs to
	at     time.Time     // zero for none
}

// endsBy is when the stream ends at the latest, by what is known at now: an event may be planned,
// moved and cancelled while it is open.
func (s *stream) endsBy(now time.Time) time.Time {
	settings := s.audience.room.Settings()
	if from, until := settings.Renewal(); from != s.renewal.from {
		s.renewal.from, s.renewal.at = from, s.drawRenewal(now, from, until)
	}
	if at := s.renewal.at; !at.IsZero() && at.Before(s.endsAt) {
		return at
	}
	return s.endsAt
}

// drawRenewal draws when the stream ends for a renewal; the zero Time for one that needs no new
// ticket, or comes too late for it.
func (s *stream) drawRenewal(now time.Time, from, until queue.Instant) time.Time {
	at := s.audience.room.StoreTime(now)
	if from == 0 || s.renewal.opened >= from || at >= until {
		return time.Time{}
	}
	first := max(from, at)
	return now.Add(first.Sub(at) + time.Duration(s.hub.upTo(uint64(until.Sub(first)))))
}

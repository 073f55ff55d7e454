package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// slowed is a room whose origin is slow for a while, with people in line.
type slowed struct {
	*door
	line []queue.Ticket
	told map[queue.ID][]toldAt // what people were told as they checked in, since admissions are slowed
	come []cameOf
}

type toldAt struct {
	at   queue.Instant
	wait estimate.Wait
}

// cameOf is a wait that was told while admissions were slowed, and what came of it, in minutes.
type cameOf struct{ told, was float64 }

// goesOn lets seconds pass in which people come, look after their place and are let in, and the
// origin answers after a while.
func (s *slowed) goesOn(seconds, come int, takes time.Duration) {
	for second := range seconds {
		if second%5 == 0 {
			s.isAnswered(20, takes)
		}
		for range come {
			s.line = append(s.line, queue.Ticket{})
		}
		s.pass(time.Second)
		var rest []queue.Ticket
		for _, t := range s.line {
			if t.State == queue.Waiting && s.now < t.Due() {
				rest = append(rest, t)
				continue
			}
			d := s.visit(t)
			if d.Outcome == room.Admitted {
				s.entered(t.ID)
				continue
			}
			if wait := s.room.Numbers().Wait(d.Ticket.ArrivedAt); wait.Known && s.room.Slowed().Factor < 1 {
				s.told[d.Ticket.ID] = append(s.told[d.Ticket.ID], toldAt{s.now, wait})
			}
			rest = append(rest, d.Ticket)
		}
		s.line = rest
	}
}

func (s *slowed) entered(id queue.ID) {
	for _, told := range s.told[id] {
		s.come = append(s.come, cameOf{float64(told.wait.Minutes), s.now.Sub(told.at).Minutes()})
	}
}

// However long an origin was slow: nobody is told a wait that is more than twice as long as what
// comes of it, or half as long.
func TestNoWaitIsToldThatDoesNotComeTrueWhileAnOriginRecovers(t *testing.T) {
	for name, slow := range map[string]int{"a moment": 10, "half a minute": 30, "five minutes": 300} {
		t.Run(name, func(t *testing.T) {
			settings := settings(10_000, 120)
			settings.AdmissionControlLatency, settings.SessionDuration, settings.ConfirmWithin = time.Second, time.Hour, 0
			s := &slowed{door: open(t, settings), told: map[queue.ID][]toldAt{}}
			s.goesOn(60, 2, 0)
			s.goesOn(slow, 2, 2*time.Second)
			assert.Less(t, s.room.Slowed().Factor, .5)
			s.goesOn(300, 1, 0)
			assert.InDelta(t, 1, s.room.Slowed().Factor, 0)
			s.goesOn(600, 0, 0)
			assert.Empty(t, s.line)
			for _, c := range s.come {
				assert.InDelta(t, c.was, c.told, max(1, c.was/2), "%.1f minutes were told, and it was %.1f", c.told, c.was)
			}
		})
	}
}

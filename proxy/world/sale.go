package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// Sale is an event with a prequeue, in which everyone new is held. The zero Sale is none.
type Sale struct {
	Prequeue, Start, End time.Duration // after the beginning
	Shuffle              bool
}

// drawSale draws a sale, in one plan of four, and has the plan last for longer.
func (p *Plan) drawSale(r *rand.Rand) {
	if r.IntN(4) != 0 {
		return
	}
	s := Sale{Prequeue: time.Duration(r.IntN(60)) * time.Second, Shuffle: p.Settings.Method == queue.FIFO && r.IntN(4) != 0}
	s.Start = s.Prequeue + event.LeastPrequeue + time.Duration(r.IntN(90))*time.Second
	s.End = s.Start + time.Minute + time.Duration(r.IntN(10))*time.Minute
	p.Lasts = s.Start + p.Lasts/2
	if most := []int{0, 3}[r.IntN(2)]; s.Shuffle {
		p.Settings.MaxWaitingPerNetwork = most
	}
	p.Sale = s
}

// held says whether everyone new was held for the sale from one moment to another, at all gates.
func (s *Sale) held(from, to time.Duration) bool { return from >= s.Prequeue+rumour && to < s.Start }

// begins says whether the prequeue begins between two moments, at some gate.
func (s *Sale) begins(from, to time.Duration) bool {
	return *s != (Sale{}) && from < s.Prequeue+rumour && to >= s.Prequeue
}

// judged is when somebody still waits, in an exact line, who should have been let in before one who
// is let in at a moment. Those who are all called at the start, and have not come by the end of the
// minute, share the allowance of the next one, which is spread over it.
func (s *Sale) judged(at time.Duration) time.Duration {
	if *s != (Sale{}) && at >= s.Start && at < s.Start+2*time.Minute {
		return at.Truncate(time.Minute) + 2*time.Minute
	}
	return at + time.Second
}

// events are what the gates' file has.
func (s *Sale) events(begun time.Time) event.List {
	if *s == (Sale{}) {
		return nil
	}
	return event.List{{Name: "sale", Prequeue: begun.Add(s.Prequeue), Start: begun.Add(s.Start), End: begun.Add(s.End), Shuffle: s.Shuffle}}
}

// String tells the sale.
func (s *Sale) String() string {
	switch {
	case *s == (Sale{}):
		return ""
	case s.Shuffle:
		return fmt.Sprintf("; a sale with a shuffled prequeue from %s, from %s to %s", moment(s.Prequeue), moment(s.Start), moment(s.End))
	}
	return fmt.Sprintf("; a sale with a prequeue from %s, from %s to %s", moment(s.Prequeue), moment(s.Start), moment(s.End))
}

package admissions

import (
	"errors"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

const (
	// grace is how much later than they were told somebody may ask who has not gone: browsers slow
	// down pages that nobody looks at, to a check-in a minute.
	grace = 2 * time.Minute
	// shutFor is for how long somebody who asks again and again is turned away but once.
	shutFor = time.Hour
)

// stage is how far somebody has come.
type stage uint8

const (
	waits stage = iota
	isIn
	isShut // they were turned away
)

// story is what is known of somebody who is there.
type story struct {
	of          *feature.Room
	code, label string
	stage       stage
	seen        time.Time // when they asked last
	due         time.Time // until when they have to ask again, or their session ends
	left        time.Time // when they said goodbye; zero for those who have not, or have come back
	told        *told     // at last, if they were told anything since they came
	asked       int       // how often, since they came
}

// line is a line about them.
func (s *story) line(room string, at time.Time, kind what) line {
	l := line{At: at.UTC(), Room: room, Code: s.code, Label: s.label, What: kind, Told: s.told}
	if s.told != nil {
		l.Asked = s.asked
	}
	return l
}

var errFull = errors.New("too many visitors are there to follow another")

// take takes in what has become of a visitor.
func (f *Feature) take(m moment) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := key{m.of.Queue.Name(), m.id}
	s := f.stories[k]
	if m.gone != "" {
		f.takeGone(k, s, &m)
		return nil
	}
	d := &m.Decision
	switch {
	case d.Outcome == room.Moved, m.What == metrics.Busy, s == nil && m.What == metrics.Held:
		return nil
	case s == nil && len(f.stories) >= mostStories:
		return errFull
	case s == nil:
		code := m.of.Setup().Pages.Support.CodeOf(m.id)
		s = &story{of: m.of, code: string(code[:]), due: m.At}
	}
	known := f.stories[k] != nil
	f.stories[k] = s
	s.seen, s.left = m.At, time.Time{}
	if m.Note != "" {
		s.label = admin.LabelOf(m.Note)
	}
	switch m.What {
	case metrics.Queued, metrics.Endless:
		if known && s.stage == isIn {
			f.note(s.line(k.room, s.due, ended))
		}
		f.takeWaiting(k, s, &m, !known || s.stage != waits)
	case metrics.Rejected, metrics.Uninvited:
		if !known || s.stage != isShut {
			l := s.line(k.room, m.At, refused)
			l.Why = m.numbers.Reason()
			f.note(l)
		}
		s.stage, s.told, s.due = isShut, nil, m.At.Add(shutFor)
	default:
		if m.What == metrics.Admitted {
			l := s.line(k.room, m.At, letIn)
			l.Waited, l.Ahead = d.Waited, m.Ahead
			f.note(l)
		}
		s.stage, s.told, s.due = isIn, nil, d.Ticket.Expires.Time()
		if again := m.At.Add(m.numbers.Settings.SessionDuration); m.numbers.Settings.Renews() && again.After(s.due) {
			s.due = again
		}
	}
	return nil
}

// takeWaiting takes in that somebody waits, who came just now or did before.
func (f *Feature) takeWaiting(k key, s *story, m *moment, came bool) {
	t := &m.Decision.Ticket
	s.stage, s.told, s.due = waits, toldBy(m), m.At.Add(t.RefreshInterval)
	if until := t.CountedUntil.Time(); until.After(s.due) {
		s.due = until
	}
	if s.asked++; !came {
		return
	}
	s.asked = 1
	l := s.line(k.room, m.At, arrived)
	if l.Why = m.numbers.Reason(); m.What == metrics.Endless {
		l.What, l.Why = endless, ""
	}
	if since := t.Came().Time(); m.At.Sub(since) > grace {
		l.Since = since.UTC()
	}
	f.note(l)
	s.told = nil
}

// takeGone takes in that a visitor has gone. Who only says goodbye often comes back at once, as when a
// page is loaded again.
func (f *Feature) takeGone(k key, s *story, m *moment) {
	switch {
	case s == nil:
		code := m.of.Setup().Pages.Support.CodeOf(m.id)
		f.note(line{At: m.At.UTC(), Room: k.room, Code: string(code[:]), What: what(m.gone)})
	case m.gone == feature.Left:
		s.left = m.At
	default:
		f.note(s.line(k.room, m.At, what(m.gone)))
		delete(f.stories, k)
	}
}

// note has a line be written. The caller holds mu.
func (f *Feature) note(l line) {
	if len(f.pending) < mostPending { // while the disk takes nothing
		f.pending = append(f.pending, l)
	}
}

// forget writes of those who have gone by now. While those who are in are held, their sessions stand
// still. The caller holds mu.
func (f *Feature) forget(now time.Time) {
	since := now.Sub(f.looked)
	f.looked = now
	for k, s := range f.stories {
		if settings := s.of.Queue.Settings(); s.stage == isIn && settings.HoldsActive() {
			s.due = s.due.Add(since)
		}
		switch {
		case !s.left.IsZero() && now.Sub(s.left) >= grace:
			f.note(s.line(k.room, s.left, left))
		case s.stage == isIn && now.After(s.due):
			f.note(s.line(k.room, s.due, ended))
		case s.stage == waits && now.Sub(s.due) >= grace:
			f.note(s.line(k.room, s.seen, missing))
		case s.stage == isShut && now.After(s.due):
		default:
			continue
		}
		delete(f.stories, k)
	}
}

// toldBy is what the page of somebody who waits tells; nil for nothing.
func toldBy(m *moment) *told {
	n, d := m.numbers, &m.Decision
	t, wait := told{At: m.At.UTC()}, estimate.Wait{}
	switch method := n.Settings.Method; {
	case m.What == metrics.Endless:
		return nil
	case method.HasExactLine() && d.Place.Number == 0:
	case method.HasExactLine():
		t.People, wait = &d.Place.Ahead, n.WaitAt(d.Place)
	case method.OrdersBuckets():
		if ahead, known := n.Ahead(d.Ticket.ArrivedAt); known {
			t.People, wait = &ahead, n.Wait(d.Ticket.ArrivedAt)
		}
	default:
		wait = n.Wait(d.Ticket.ArrivedAt)
	}
	if wait.Known {
		t.Minutes = &wait.Minutes
	}
	return &t
}

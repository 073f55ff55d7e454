package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Of returns what there is of a room, or of a family: with the changes of its rooms.
func Of(rooms map[string]*Excerpt, name string) Excerpt {
	var e Excerpt
	if of := rooms[name]; of != nil {
		e.Minutes = slices.Clone(of.Minutes)
	}
	for of, part := range rooms {
		if of == name || strings.HasPrefix(of, name+".") {
			e.Changes = append(e.Changes, part.Changes...)
		}
	}
	e.sort()
	return e
}

// sort puts everything in order, and leaves of each minute the line that came last.
func (e *Excerpt) sort() {
	slices.SortStableFunc(e.Changes, func(a, b Change) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(e.Minutes, func(a, b Minute) int { return a.At.Compare(b.At) })
	last := -1
	for _, m := range e.Minutes {
		if last < 0 || !e.Minutes[last].At.Equal(m.At) {
			last++
		}
		e.Minutes[last] = m
	}
	e.Minutes = e.Minutes[:last+1]
}

// cut returns the part of e that is of a time.
func (e Excerpt) cut(from, to time.Time) Excerpt {
	outside := func(at time.Time) bool { return at.Before(from) || !at.Before(to) }
	return Excerpt{
		Minutes: Within(e.Minutes, from, to),
		Changes: slices.DeleteFunc(slices.Clone(e.Changes), func(c Change) bool { return outside(c.At) }),
	}
}

// then returns e with what comes after it.
func (e Excerpt) then(next Excerpt) Excerpt {
	return Excerpt{Minutes: append(e.Minutes, next.Minutes...), Changes: append(e.Changes, next.Changes...)}
}

// Merge makes the excerpts of several gates one, of the same room and time. What each gate
// has done is added up; how the whole room stood is taken from the gate that knew most of
// the minute; a change that several gates have noted is one.
func Merge(gates ...Excerpt) Excerpt {
	minutes, seen := map[time.Time]Minute{}, map[Change]bool{}
	var all Excerpt
	for _, g := range gates {
		for _, m := range g.Minutes {
			at := m.At.UTC()
			if other, found := minutes[at]; found {
				m = other.plus(m)
			}
			minutes[at] = m
		}
		for _, c := range g.Changes {
			c.At = c.At.UTC()
			if !seen[c] {
				seen[c] = true
				all.Changes = append(all.Changes, c)
			}
		}
	}
	all.Minutes = slices.Collect(maps.Values(minutes))
	all.sort()
	return all
}

// plus is the minute of two gates.
func (m Minute) plus(o Minute) Minute {
	m.Own = m.Own.plus(&o.Own)
	m.GaveUp = nil // neither gate can know
	m.Spans = append(slices.Clone(m.Spans), o.Spans...)
	m.Room = m.Room.merge(o.Room, m.Seconds >= o.Seconds)
	m.Seconds = max(m.Seconds, o.Seconds)
	return m
}

// merge is the standing of one room as two gates saw it. The first one knows more of the
// minute if first is true.
func (s *Standing) merge(o *Standing, first bool) *Standing {
	switch {
	case o == nil:
		return s
	case s == nil:
		return o
	case !first:
		s, o = o, s
	}
	both := *s
	both.ActiveMost, both.QueuedMost = max(s.ActiveMost, o.ActiveMost), max(s.QueuedMost, o.QueuedMost)
	both.Admitted, both.TellsMinutes = max(s.Admitted, o.Admitted), cmp.Or(s.TellsMinutes, o.TellsMinutes)
	both.Held, both.SoldOut = s.Held || o.Held, s.SoldOut || o.SoldOut
	both.Items = slices.Clone(s.Items)
	for _, offer := range o.Items { // of rooms of a family that the other gate does not have
		if !slices.ContainsFunc(s.Items, func(known Offer) bool { return known.Room == offer.Room }) {
			both.Items = append(both.Items, offer)
		}
	}
	return &both
}

// plus is what two gates have done, or one in two times.
func (o Own) plus(p *Own) Own {
	return Own{
		LetIn: o.LetIn + p.LetIn, GaveUp: sumOf(o.GaveUp, p.GaveUp), Waits: o.Waits.Plus(p.Waits), Told: o.Told.Plus(p.Told),
		Score: o.Score.plus(p.Score), Refused: o.Refused.plus(p.Refused),
		StoreFailingSeconds: o.StoreFailingSeconds + p.StoreFailingSeconds, StoreErrors: o.StoreErrors + p.StoreErrors,
		WithoutStore:         o.WithoutStore + p.WithoutStore,
		OriginFailingSeconds: max(o.OriginFailingSeconds, p.OriginFailingSeconds), OriginErrors: o.OriginErrors + p.OriginErrors,
		OriginAnswers: o.OriginAnswers + p.OriginAnswers, OriginFaults: o.OriginFaults + p.OriginFaults, OriginSeconds: o.OriginSeconds + p.OriginSeconds,
	}
}

// sumOf is the sum of what is known of two numbers; nil if neither is.
func sumOf(a, b *int) *int {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(*a + *b)
}

// Sum returns what was done in all of the minutes.
func Sum(minutes []Minute) Own {
	var sum Own
	for i := range minutes {
		seconds := sum.OriginFailingSeconds + minutes[i].OriginFailingSeconds
		sum = sum.plus(&minutes[i].Own)
		sum.OriginFailingSeconds = seconds
	}
	return sum
}

package pages

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Preview is the room's page for operators, in a language and with a message: as somebody sees it who
// comes now, by the room's numbers, or in a state of [templates.States], with made-up numbers and with
// what there is to buy in the room, if anything. The present has no name; found is false for a state
// that there is not.
func (p *Room) Preview(now time.Time, n *estimate.Numbers, state, language, message string) (page []byte, policy string, found bool) {
	if state == "" {
		return p.present(now, n, language, message)
	}
	states := templates.States()
	i := slices.IndexFunc(states, func(s templates.State) bool { return s.Name == state })
	if i < 0 {
		return nil, "", false
	}
	d := states[i].Data
	d.RoomName, d.Message, d.Items = p.Name, message, cmp.Or(string(n.Items()), d.Items)
	return p.Set.Page(p.Set.Match(language), d).AppendTo(nil, templates.MadeUp(now, d)), p.Set.ContentSecurityPolicy(), true
}

// present is the page of somebody who comes now.
func (p *Room) present(now time.Time, n *estimate.Numbers, language, message string) (page []byte, policy string, found bool) {
	set := p.Shown(&n.Settings.Event)
	key := Key{Language: set.Match(language), SoldOut: n.Settings.SoldOut(n.Stock)}
	key.rejected = key.SoldOut || n.Settings.RejectsAll()
	key.newcomer, key.drawn = true, n.Settings.Event.Shuffling()
	var place templates.Place
	switch method := n.Settings.Method; {
	case method.OrdersBuckets():
		place = placeByArrival(n, &room.Decision{Ticket: queue.Ticket{ArrivedAt: n.At}})
	case method.HasExactLine():
		place = placeOf(n, &room.Decision{Place: queue.Place{Number: n.Line.Last + 1, Ahead: n.Waiting, Length: n.Waiting + 1}})
	}
	d := dataOf(p.Name, n, key, place)
	d.Event, d.Message = p.eventOf(n), message
	v := templates.MadeUp(now, d)
	v.ArrivedAt, v.Place = now, place
	return set.Page(key.Language, d).AppendTo(nil, v), set.ContentSecurityPolicy(), true
}

package pages

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Preview is the room's page in a state of [templates.States], with made-up numbers, for operators:
// in a language, with a message, and with what there is to buy in the room, if anything. found is false
// for a state that there is not.
func (p *Room) Preview(now time.Time, state, language, message string, items queue.Items) (page []byte, policy string, found bool) {
	states := templates.States()
	i := slices.IndexFunc(states, func(s templates.State) bool { return s.Name == state })
	if i < 0 {
		return nil, "", false
	}
	d := states[i].Data
	d.RoomName, d.Message, d.Items = p.Name, message, cmp.Or(string(items), d.Items)
	return p.Set.Page(p.Set.Match(language), d).AppendTo(nil, templates.MadeUp(now, d)), p.Set.ContentSecurityPolicy(), true
}

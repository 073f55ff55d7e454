package browsertest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// sale is an event with a prequeue of which 8 minutes are left.
var sale = templates.Event{Start: "2026-11-21T10:38:00Z", End: "2026-11-21T12:00:00Z", Prequeueing: true, UntilStart: 8, UntilEnd: 90}

// states are the states of a room in all combinations of what can be so at once.
func states() (all []templates.Data) {
	for bits := range 1 << 7 {
		has := func(bit int) bool { return bits>>bit&1 == 1 }
		d := templates.Data{
			RoomName: "shop", QueueingMethod: "fifo", WaitTimeKnown: true, WaitTime: 12, UsersAheadKnown: true, UsersAhead: 214, UsersQueued: 254,
			PlaceKeptSeconds: 1800, QueueAll: has(0), Held: has(1), SoldOut: has(2), QueueIsFull: has(5),
		}
		if has(3) {
			d.ItemsLeftKnown, d.ItemsLeft = true, 37
			if has(0) {
				d.Items = `[{"name":"Standing","price":"49 €","left":37},{"name":"<Seat>","left":0,"soldOut":true},{"name":"Parking"}]`
			}
		}
		if has(4) {
			d.Event = sale
			d.Event.Shuffle, d.Drawn, d.UsersAheadKnown = has(6), has(6) && !d.SoldOut, !has(6)
			d.Event.SeedHash = strings.Repeat("66687aad", 8)
		} else if has(6) {
			d.QueueingMethod = "reject"
		}
		all = append(all, d)
	}
	return all
}

// seen is the text of a page's parts that are shown, by their ids. What only the script can know is
// left out.
const seen = `(of => Object.fromEntries(['heading', 'label', 'starts', 'wait', 'shuffled', 'draw', 'rejoined', 'position', 'ahead', 'left', 'goods', 'stay']
	.map(id => [id, of.getElementById(id)]).filter(([, e]) => e && !e.closest('[hidden]')).map(([id, e]) => [id, id === 'stay' ? '' : id === 'goods' ? [...e.querySelectorAll('dt, dd')].map(d => d.textContent).join('|') : e.textContent])))`

// rendered is what the page shows that the gate has just now, without its script.
const rendered = `fetch('/', {headers: {Accept: 'text/html'}}).then(r => r.text()).then(t => ` + seen + `(new DOMParser().parseFromString(t, 'text/html')))`

func TestTheScriptAndThePageTellTheSameInEveryState(t *testing.T) {
	t.Parallel()
	for lang, step := range map[string]int{"en-US": 1, "de-DE": 5, "ar-EG": 5, "ja-JP": 5} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			all := states()
			s := newScript(t, all[0], 20)
			s.lang = lang
			tab := s.visit()
			for i := 0; i < len(all); i += step {
				d := all[i]
				before := browsertest.Eval[string](tab, `document.getElementById('updated').dateTime`)
				s.tell(d)
				tab.Until(fmt.Sprintf(`document.getElementById('updated').dateTime !== %q`, before))
				assert.Equal(t, browsertest.Eval[map[string]string](tab, rendered), browsertest.Eval[map[string]string](tab, seen+`(document)`), "%+v", d)
			}
			assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
		})
	}
}

func TestWhatIsLeftOfItemsIsToldInNumbersOfTheVisitorsLanguage(t *testing.T) {
	t.Parallel()
	d := states()[0]
	s := newScript(t, d, 20)
	s.lang = "de-DE"
	tab := s.visit()
	d.Items = `[{"name":"Stehplatz 1000","price":"49 €","left":12000},{"name":"Sitzplatz","soldOut":true}]`
	s.tell(d)
	tab.Until(`document.querySelector('#goods dd')`)
	assert.Equal(t, "Stehplatz 1000 · 49 €Noch verfügbar: 12.000Sitzplatzausverkauft", browsertest.Eval[string](tab, `document.getElementById('goods').textContent.trim()`))
}

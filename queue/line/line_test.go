package line_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/line"
)

// place is an entry as the model has it.
type place struct {
	id       queue.ID
	priority int16
	number   uint64
	until    queue.Instant

	confirmed bool
}

func order(a, b place) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.number, b.number), bytes.Compare(a.id[:], b.id[:]))
}

// model is a line beside a sorted slice.
type model struct {
	*rapid.T
	line   line.Line
	places []place
	random *rand.Rand
	now    queue.Instant
	last   uint64
	ids    uint32
}

func (m *model) add(n int, priority func() int16, number func() uint64) {
	for range n {
		m.ids++
		p := place{
			id:       queue.ID{byte(m.random.Uint32()), byte(m.ids >> 24), byte(m.ids >> 16), byte(m.ids >> 8), byte(m.ids)},
			priority: priority(), number: number(), until: m.now + queue.Instant(m.random.IntN(100_000)),
		}
		m.line.Add(p.id, p.priority, p.number, m.now, p.until)
		at, _ := slices.BinarySearchFunc(m.places, p, order)
		m.places = slices.Insert(m.places, at, p)
	}
}

func (m *model) next() uint64 {
	m.last++
	return m.last
}

// some calls do for so many of those in line.
func (m *model) some(do func(e *line.Entry, at int)) {
	for range rapid.IntRange(0, 700).Draw(m.T, "some") {
		if len(m.places) > 0 {
			at := m.random.IntN(len(m.places))
			do(m.line.Find(m.places[at].id), at)
		}
	}
}

func (m *model) remove(e *line.Entry, at int) {
	m.line.Remove(e)
	m.places = slices.Delete(m.places, at, at+1)
}

func (m *model) prefer(e *line.Entry, at int) {
	p := m.places[at]
	m.places = slices.Delete(m.places, at, at+1)
	p.priority = int16(m.random.IntN(5) - 2)
	at, _ = slices.BinarySearchFunc(m.places, p, order)
	m.places = slices.Insert(m.places, at, p)
	m.line.Prefer(e, p.priority)
}

func (m *model) keep(e *line.Entry, at int) {
	until := m.now + queue.Instant(m.random.IntN(100_000))
	m.places[at].until = until
	m.line.Keep(e, m.now, until)
}

func (m *model) confirm(e *line.Entry, at int) {
	m.places[at].confirmed = true
	m.line.Confirm(e)
}

func (m *model) pass() {
	m.now += queue.Instant(rapid.IntRange(0, 60_000).Draw(m.T, "ms"))
	m.line.Expire(m.now, 1<<30)
	m.places = slices.DeleteFunc(m.places, func(p place) bool { return p.until <= m.now })
}

func (m *model) check() {
	require.Equal(m, len(m.places), m.line.Len())
	i, preferred, first := 0, 0, uint64(0)
	var confirmed []*line.Entry
	for e := range m.line.All() {
		p := m.places[i]
		ahead, confirmedAhead := m.line.Ahead(e)
		if p != (place{e.ID, e.Priority, e.Number, e.Until(), e.Confirmed()}) || m.line.Find(e.ID) != e || ahead != i || confirmedAhead != len(confirmed) {
			m.Fatalf("place %d of %d, after %d confirmed ones: %+v, found with %d and %d ahead as %+v", i, len(m.places), len(confirmed), p, ahead, confirmedAhead, e)
		}
		if e.Confirmed() {
			confirmed = append(confirmed, e)
		}
		if p.priority > 0 {
			preferred++
		}
		if p.priority == 0 && first == 0 {
			first = p.number
		}
		i++
	}
	require.Equal(m, len(m.places), i)
	require.True(m, slices.Equal(confirmed, slices.Collect(m.line.Confirmed())))
	n, e := m.line.Default()
	require.Equal(m, preferred, n)
	require.Equal(m, first != 0, e != nil)
	if e != nil {
		require.Equal(m, first, e.Number)
	}
	if i == 0 {
		require.Nil(m, m.line.Last())
	} else {
		require.Equal(m, m.places[i-1].id, m.line.Last().ID)
	}
}

func TestLineIsInOrderWhateverHappens(t *testing.T) {
	none := func() int16 { return 0 }
	rapid.Check(t, func(t *rapid.T) {
		m := &model{T: t, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), now: 1_600_000_000_000, last: 1000}
		many := rapid.IntRange(0, 700)
		t.Repeat(map[string]func(*rapid.T){
			"many join":          func(*rapid.T) { m.add(many.Draw(t, "n"), none, m.next) },
			"preferred ones do":  func(*rapid.T) { m.add(many.Draw(t, "n"), func() int16 { return int16(m.random.IntN(3)) }, m.next) },
			"some are taken up":  func(*rapid.T) { m.add(many.Draw(t, "n"), none, func() uint64 { return 1 + m.random.Uint64N(m.last) }) },
			"some go":            func(*rapid.T) { m.some(m.remove) },
			"the first go":       func(*rapid.T) { m.some(func(*line.Entry, int) { m.remove(m.line.Find(m.places[0].id), 0) }) },
			"some are preferred": func(*rapid.T) { m.some(m.prefer) },
			"some check in":      func(*rapid.T) { m.some(m.keep) },
			"some are confirmed": func(*rapid.T) { m.some(m.confirm) },
			"time passes":        func(*rapid.T) { m.pass() },
			"":                   func(*rapid.T) { m.check() },
		})
	})
}

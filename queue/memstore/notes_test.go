package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// notes are what the site says of those who are in and in line.
func (g *gate) notes() (list []string) {
	g.Helper()
	roster, err := g.store.Roster(g.Context(), "shop", nil)
	require.NoError(g, err)
	for _, s := range roster.Seated {
		list = append(list, s.Note)
	}
	for _, w := range roster.Line {
		list = append(list, w.Note)
	}
	return list
}

func (g *gate) says(i int, text string) {
	g.sync(queue.Report{Notes: []queue.Note{{ID: id(i), At: g.now, Text: text}}})
}

func TestWhatTheSiteSaysOutlivesACrash(t *testing.T) {
	s := settings()
	s.Method, s.TotalActiveUsers = queue.Line, 2
	g := run(t, t.TempDir(), s, 0)
	g.enter(1)
	g.now = g.now.Add(time.Millisecond)
	g.enter(2)
	g.says(1, `"Ann"`)
	g.says(2, `"Ben"`)
	require.Equal(t, queue.Refused, g.claim(queue.Claim{ID: id(3)}))
	g.count(1, cell(0, time.Minute))
	g.says(3, `"Cid"`)
	g.says(1, `"Anna"`)
	want := []string{`"Anna"`, `"Ben"`, `"Cid"`}
	require.Equal(t, want, g.notes())

	back := queue.Claim{ID: id(3), Cell: cell(0, time.Minute), ArrivedAt: g.now, LastCheckIn: g.now, Number: 1}
	g = g.crashes(s, 5*time.Second)
	g.look()
	require.Equal(t, queue.Refused, g.claim(back), "who waits comes back to their place")
	assert.Equal(t, want, g.notes())
	g.at(30 * time.Second)
	g.look() // the journal is written anew
	g = g.restart(s, 35*time.Second)
	g.look()
	require.Equal(t, queue.Refused, g.claim(back))
	assert.Equal(t, want, g.notes())
}

func TestWhatTheSiteSaidOfWhoIsGoneIsGoneAfterACrash(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.enter(1)
	g.says(1, `"Ann"`)
	g.at(2 * time.Minute)
	g.look()
	g.enter(1)
	g = g.crashes(settings(), 2*time.Minute)
	g.look()
	assert.Equal(t, []string{""}, g.notes())
}

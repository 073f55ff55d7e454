package storetest

import (
	"context"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// says is a report of what the site says of visitor i, by the clock of the node.
func (n *node) says(i int, text string) queue.Report {
	return queue.Report{Notes: []queue.Note{{ID: id(i), At: n.now, Text: text}}}
}

// notes are what the site says of those who are in and of those in line, as a call of the roster
// has it.
func (n *node) notes(ids ...queue.ID) (in, waiting []string) {
	n.Helper()
	roster, err := n.h.Store.Roster(context.Background(), n.room, ids)
	require.NoError(n, err)
	for _, s := range roster.Seated {
		in = append(in, s.Note)
	}
	for _, w := range roster.Line {
		waiting = append(waiting, w.Note)
	}
	return in, waiting
}

var noteCases = []contractCase{
	{"what is said of who is in is told by any node, until the session has ended", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.pass(time.Second)
		n.admit(newcomer(2))
		long := `{"about":"` + strings.Repeat("ü", (queue.MaxNote-12)/2) + `"}`
		n.sync(n.says(2, long))
		n.another().look()
		in, _ := n.notes()
		assert.Equal(n, []string{"", long}, in)
		in, _ = n.notes(id(2))
		assert.Equal(n, []string{long}, in)
		n.pass(time.Minute + n.h.Slack)
		n.look()
		in, _ = n.notes()
		assert.Empty(n, in)
	}},
	{"who comes anew has nothing said of them", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.sync(n.says(1, `"Ann"`))
		n.pass(time.Minute + n.h.Slack)
		assert.Equal(n, queue.Granted, n.verdicts(newcomer(1))[0])
		in, _ := n.notes()
		assert.Equal(n, []string{""}, in)
		n.sync(n.says(1, `"Ann"`))
		in, _ = n.notes()
		assert.Equal(n, []string{`"Ann"`}, in)
	}},
	{"who is held keeps what is said of them", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.admitWith(n.report(n.says(1, `"Ann"`)), newcomer(1))
		in, _ := n.notes()
		assert.Equal(n, []string{`"Ann"`}, in)
	}},
	{"what was said last counts, whichever report comes first", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		earlier := n.says(1, `"Ann"`)
		n.pass(time.Second)
		other := n.another()
		other.sync(other.says(1, `"Anna"`))
		n.sync(earlier)
		in, _ := n.notes()
		assert.Equal(n, []string{`"Anna"`}, in)
		n.pass(time.Second)
		n.sync(n.says(1, `"Ann"`))
		in, _ = n.notes()
		assert.Equal(n, []string{`"Ann"`}, in)
	}},
	{"a report that comes again is not counted again", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		p := n.report(n.says(1, `"Ann"`))
		n.send(p)
		n.pass(time.Minute + n.h.Slack)
		n.admit(newcomer(1))
		n.seq++
		last := n.report(queue.Report{})
		n.send(last)
		p.Seq = last.Seq
		n.send(p)
		in, _ := n.notes()
		assert.Equal(n, []string{""}, in)
	}},
	{"what is said of a visitor in line goes with them into the room", func(n *node) {
		s := ample()
		s.Method, s.TotalActiveUsers, s.SessionDuration = queue.Line, 1, 30*time.Second
		n.configure(s)
		n.admit(newcomer(1))
		n.admit(newcomer(2), newcomer(3))
		n.sync(queue.Report{Notes: []queue.Note{{ID: id(2), At: n.now, Text: `"Ben"`}, {ID: id(3), At: n.now, Text: `"Cid"`}}})
		n.look()
		in, waiting := n.notes()
		assert.Equal(n, []string{""}, in)
		assert.Equal(n, []string{`"Ben"`, `"Cid"`}, waiting)
		n.pass(20 * time.Second)
		n.admit(waiter(2, cell(0)), waiter(3, cell(0)))
		n.pass(10*time.Second + n.h.Slack)
		assert.Equal(n, queue.Granted, n.verdicts(waiter(2, cell(0)))[0])
		n.look()
		in, waiting = n.notes()
		assert.Equal(n, []string{`"Ben"`}, in)
		assert.Equal(n, []string{`"Cid"`}, waiting)
	}},
	{"who has lost their place has nothing said of them when they come anew", func(n *node) {
		s := ample()
		s.Method, s.TotalActiveUsers, s.SessionDuration = queue.Line, 1, 10*time.Minute
		n.configure(s)
		n.admit(newcomer(1))
		n.admit(newcomer(2))
		n.sync(n.says(2, `"Ben"`))
		n.pass(3 * time.Minute)
		n.admit(newcomer(2))
		n.look()
		_, waiting := n.notes()
		assert.Equal(n, []string{""}, waiting)
	}},
}

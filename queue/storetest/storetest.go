// Package storetest has the contract of [queue.Store] as tests: there is a case for every
// sentence of the interface. Each implementation runs all of them.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Harness is a store under test, with its clock.
type Harness struct {
	Store queue.Store

	// SetClock sets the store's own clock. Nil for a store that goes by the
	// clock in the reports.
	SetClock func(queue.Instant)

	// Slack is how long after its end a session may still hold its slot, because the
	// store waits for reports that are under way, or looks only from time to time.
	Slack time.Duration
}

// Run runs the suite. Each call of open returns an empty store; the suite closes
// it.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	for _, group := range []struct {
		name  string
		cases []contractCase
	}{
		{"admit", admitCases},
		{"methods", methodCases},
		{"report", reportCases},
		{"sessions", sessionCases},
		{"leases", leaseCases},
		{"lost answers", lostAnswerCases},
		{"standstill", standstillCases},
		{"stock", stockCases},
		{"status", statusCases},
		{"pacing", pacingCases},
		{"boundaries", boundaryCases},
		{"pressure", pressureCases},
		{"mark", markCases},
		{"configure", configureCases},
		{"line", lineCases},
		{"places", placeCases},
		{"unconfirmed", unconfirmedCases},
		{"notes", noteCases},
	} {
		for _, c := range group.cases {
			t.Run(group.name+"/"+c.name, func(t *testing.T) {
				h := open(t)
				c.run(newNode(t, h))
				require.NoError(t, h.Store.Close())
			})
		}
	}
}

// contractCase is a sentence of the contract.
type contractCase struct {
	name string
	run  func(n *node)
}

// start is a whole minute.
var start = queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))

// node is one node's side of a room.
type node struct {
	*testing.T
	h    Harness
	room string
	name uint64
	seq  uint64
	now  queue.Instant

	other *node // where two nodes report
}

// newNode returns the first node of a room called shop at start. The room is
// there after the first configure.
func newNode(t *testing.T, h Harness) *node {
	n := &node{T: t, h: h, room: "shop", name: 1}
	n.at(0)
	return n
}

// another returns one more node of the same room.
func (n *node) another() *node {
	other := *n
	other.name, other.seq = n.name+1, 0
	return &other
}

// of returns the same node's side of another room.
func (n *node) of(room string) *node {
	other := *n
	other.room, other.seq = room, 0
	return &other
}

// at sets the clock to d after start.
func (n *node) at(d time.Duration) {
	n.now = start.Add(d)
	if n.h.SetClock != nil {
		n.h.SetClock(n.now)
	}
}

// pass moves the clock on.
func (n *node) pass(d time.Duration) { n.at(n.now.Sub(start) + d) }

func (n *node) configure(s queue.Settings) {
	n.Helper()
	n.configureWith(queue.Configuration{Settings: s})
}

// configureWith gives the room a configuration, with its defaults and a version.
func (n *node) configureWith(c queue.Configuration) {
	n.Helper()
	c.Settings, c.Version = c.Settings.WithDefaults(), n.look().Configuration.Version+1
	require.NoError(n, c.Settings.Validate())
	require.NoError(n, n.h.Store.Configure(context.Background(), n.room, c))
}

// report numbers a report.
func (n *node) report(p queue.Report) *queue.Report {
	n.seq++
	p.Node, p.Seq, p.Now = n.name, n.seq, n.now
	return &p
}

// sync reports and returns the room's view.
func (n *node) sync(p queue.Report) *queue.View {
	n.Helper()
	return n.send(n.report(p))
}

// send sends a report that has been numbered.
func (n *node) send(p *queue.Report) *queue.View {
	n.Helper()
	v, err := n.h.Store.Sync(context.Background(), n.room, p)
	require.NoError(n, err)
	return v
}

// look syncs with nothing to report.
func (n *node) look() *queue.View {
	n.Helper()
	return n.sync(queue.Report{})
}

// count reports people in cells.
func (n *node) count(changes ...queue.CellChange) *queue.View {
	n.Helper()
	return n.sync(queue.Report{Cells: changes})
}

// admit sends claims with nothing to report.
func (n *node) admit(claims ...queue.Claim) ([]queue.Grant, queue.Status) {
	n.Helper()
	return n.admitWith(n.report(queue.Report{}), claims...)
}

func (n *node) admitWith(p *queue.Report, claims ...queue.Claim) ([]queue.Grant, queue.Status) {
	n.Helper()
	grants := make([]queue.Grant, len(claims))
	status, err := n.h.Store.Admit(context.Background(), n.room, p, claims, grants)
	require.NoError(n, err)
	return grants, status
}

// verdicts sends claims and returns only the verdicts.
func (n *node) verdicts(claims ...queue.Claim) []queue.Verdict {
	n.Helper()
	grants, _ := n.admit(claims...)
	verdicts := make([]queue.Verdict, len(grants))
	for i, g := range grants {
		verdicts[i] = g.Verdict
	}
	return verdicts
}

// id returns the id of visitor i.
func id(i int) queue.ID { return queue.ID{byte(i), byte(i >> 8), byte(i >> 16), 1} }

// newcomer is the claim of visitor i without a place.
func newcomer(i int) queue.Claim { return queue.Claim{ID: id(i)} }

// waiter is the claim of visitor i who waits in a cell.
func waiter(i int, c queue.Cell) queue.Claim { return queue.Claim{ID: id(i), Cell: c} }

// cell is the bucket so many minutes after start, due until 30 seconds after it.
func cell(bucket int) queue.Cell { return cellUntil(bucket, 30*time.Second) }

func cellUntil(bucket int, until time.Duration) queue.Cell {
	return queue.Cell{Bucket: start.Add(time.Duration(bucket) * time.Minute), Until: start.Add(until)}
}

func people(n int, c queue.Cell) queue.CellChange { return queue.CellChange{Cell: c, People: n} }

// ample are limits that nothing here reaches, at any moment of a minute.
func ample() queue.Settings {
	return queue.Settings{TotalActiveUsers: 1000, NewUsersPerMinute: 1000, SessionDuration: time.Minute, Pacing: queue.PacingMinute}
}

// limited are ample limits with so many slots.
func limited(total int) queue.Settings {
	s := ample()
	s.TotalActiveUsers = total
	return s
}

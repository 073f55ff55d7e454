package storetest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Linearizable has several nodes call a store at once, in two rooms with exact lines:
// they check visitors in, say goodbye for them, end sessions and prefer some visitors. It
// checks that the answers are right for some order of the calls: each place was true at
// a moment between request and answer, and no slot was given away twice or out of turn.
func Linearizable(t *testing.T, h Harness) {
	t.Helper()
	const nodes, calls = 6, 50
	hist := &history{h: h, began: time.Now(), now: start}
	var running sync.WaitGroup
	for _, room := range []string{"red", "blue"} {
		s := lined(lineSlots)
		s.SessionDuration = 24 * time.Hour
		operator := newNode(t, h).of(room)
		operator.configure(s)
		operator.sync(queue.Report{Since: start.Add(heardAll)})
		for i := range nodes {
			running.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 5))
				for seq := range uint64(calls) {
					hist.call(t, call{room: room, node: uint64(100 + i), seq: seq + 1, kind: kinds[random.IntN(len(kinds))], id: id(random.IntN(14))})
				}
			})
		}
	}
	running.Wait()
	result := porcupine.CheckOperationsTimeout(lineModel(), hist.operations, time.Minute)
	assert.Equal(t, porcupine.Ok, result, "the history is that of a line")
}

// heardAll is the moment of the view that every node reports to have: it is after any
// revocation. If the store had to wait until nodes have heard of a revocation, the calls
// meanwhile would be no history of one line.
const heardAll = 24 * time.Hour

// lineSlots is how many sessions the rooms hold at a time.
const lineSlots = 3

type callKind uint8

const (
	claims callKind = iota
	saysGoodbye
	isRevoked
	isPreferred
)

var kinds = []callKind{claims, claims, claims, claims, claims, saysGoodbye, isRevoked, isPreferred}

// call is what a node asks of the store; now is the moment in its report.
type call struct {
	room string
	node uint64
	seq  uint64
	kind callKind
	id   queue.ID
	now  queue.Instant
}

// answer is what a node learns.
type answer struct {
	now     queue.Instant
	active  int
	present int
	grant   queue.Grant // of a claim
}

type history struct {
	h          Harness
	began      time.Time
	mu         sync.Mutex
	now        queue.Instant
	operations []porcupine.Operation
}

// tick moves the clock on by some seconds at most, in the steps in which a store takes out
// the visitors who have missed a check-in.
func (x *history) tick() queue.Instant {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.now = x.now.Add(time.Duration(rand.IntN(12)) * 250 * time.Millisecond)
	if x.h.SetClock != nil {
		x.h.SetClock(x.now)
	}
	return x.now
}

// call makes a call and records it.
func (x *history) call(t *testing.T, c call) {
	c.now = x.tick()
	p := &queue.Report{Node: c.node, Seq: c.seq, Now: c.now, Since: start.Add(heardAll)}
	switch c.kind {
	case saysGoodbye:
		p.Left = []queue.Departure{{ID: c.id, At: c.now}}
	case isRevoked:
		p.Revoked = []queue.Session{{ID: c.id, Expires: c.now.Add(time.Minute)}}
	case isPreferred:
		p.Priorities = []queue.Priority{{ID: c.id, Priority: int16(c.seq % 3)}}
	default:
	}
	var got answer
	asked := time.Since(x.began)
	if c.kind == claims {
		grants := make([]queue.Grant, 1)
		status, err := x.h.Store.Admit(context.Background(), c.room, p, []queue.Claim{{ID: c.id, ArrivedAt: c.now}}, grants)
		assert.NoError(t, err)
		got = answer{now: status.Now, active: status.Active, present: status.Present, grant: grants[0]}
	} else {
		view, err := x.h.Store.Sync(context.Background(), c.room, p)
		require.NoError(t, err)
		got = answer{now: view.Now, active: view.Active, present: view.Present}
	}
	answered := time.Since(x.began)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.operations = append(x.operations, porcupine.Operation{
		ClientId: int(c.node), Input: c, Call: int64(asked), Output: got, Return: int64(answered),
	})
}

// lineState is a room as the model has it.
type lineState struct {
	last   uint64
	line   []waiting
	seated []queue.ID
	banned []queue.Session
}

type waiting struct {
	id       queue.ID
	priority int16
	number   uint64
	until    queue.Instant

	confirmed bool
}

// keeps is how long the place outlives a check-in.
func (w *waiting) keeps() time.Duration {
	s := lined(lineSlots).WithDefaults()
	if w.confirmed {
		return s.LineDropout
	}
	return s.ReturnsWithin()
}

func (s lineState) copy() lineState {
	return lineState{s.last, slices.Clone(s.line), slices.Clone(s.seated), slices.Clone(s.banned)}
}

// apply applies a call to the model, and returns the answer.
func (s *lineState) apply(c call, now queue.Instant) answer {
	s.line = slices.DeleteFunc(s.line, func(w waiting) bool { return w.until <= now })
	s.banned = slices.DeleteFunc(s.banned, func(b queue.Session) bool { return b.Expires <= now })
	at := slices.IndexFunc(s.line, func(w waiting) bool { return w.id == c.id })
	got := answer{now: now}
	switch {
	case c.kind == claims:
		got.grant = s.claim(c.id, at, now)
	case c.kind == isRevoked:
		s.seated = slices.DeleteFunc(s.seated, func(id queue.ID) bool { return id == c.id })
		s.banned = slices.DeleteFunc(s.banned, func(b queue.Session) bool { return b.ID == c.id && b.Expires < c.now.Add(time.Minute) })
		if !s.bans(c.id) {
			s.banned = append(s.banned, queue.Session{ID: c.id, Expires: c.now.Add(time.Minute)})
		}
	case at < 0:
	case c.kind == isPreferred:
		s.line[at].priority = int16(c.seq % 3)
		s.sort()
	case s.line[at].until < c.now.Add(s.line[at].keeps()) && s.bans(c.id):
		s.line = slices.Delete(s.line, at, at+1)
	case s.line[at].until < c.now.Add(s.line[at].keeps()):
		s.line[at].until = min(s.line[at].until, c.now.Add(queue.LineReturn))
	}
	got.active, got.present = len(s.seated), len(s.line)
	return got
}

func (s *lineState) bans(id queue.ID) bool {
	return slices.ContainsFunc(s.banned, func(b queue.Session) bool { return b.ID == id })
}

func (s *lineState) sort() {
	slices.SortFunc(s.line, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.number, b.number))
	})
}

// confirmedBefore counts those in front of a place who have come back.
func (s *lineState) confirmedBefore(at int) (n int) {
	for _, w := range s.line[:at] {
		if w.confirmed {
			n++
		}
	}
	return n
}

// claim is the check-in of an id that has the given place, or none.
func (s *lineState) claim(id queue.ID, at int, now queue.Instant) queue.Grant {
	banned, held := s.bans(id), slices.Contains(s.seated, id)
	if banned || held {
		if at >= 0 {
			s.line = slices.Delete(s.line, at, at+1)
		}
		if banned {
			return queue.Grant{Verdict: queue.Banned}
		}
		return queue.Grant{Verdict: queue.Held}
	}
	joined := at < 0
	if joined {
		s.last++
		s.line = append(s.line, waiting{id: id, number: s.last})
		s.sort()
		at = slices.IndexFunc(s.line, func(w waiting) bool { return w.id == id })
	}
	s.line[at].confirmed = !joined
	s.line[at].until = now.Add(s.line[at].keeps())
	ahead := at
	if !joined {
		ahead = s.confirmedBefore(at)
	}
	if ahead < lineSlots-len(s.seated) {
		s.line = slices.Delete(s.line, at, at+1)
		s.seated = append(s.seated, id)
		return queue.Grant{Verdict: queue.Granted}
	}
	w := s.line[at]
	return queue.Grant{Place: queue.Place{Number: w.number, Priority: w.priority, Ahead: at, Length: len(s.line), Joined: joined}}
}

// lineModel is the model of one room: the rooms of a store do not affect each other.
func lineModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			rooms := map[string][]porcupine.Operation{}
			for _, op := range all {
				room := op.Input.(call).room
				rooms[room] = append(rooms[room], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range rooms {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return lineState{} },
		Step: func(state, input, output any) (bool, any) {
			next, got := state.(lineState).copy(), output.(answer)
			want := next.apply(input.(call), got.now)
			got.grant.AcceptedAt, got.grant.Expires = 0, 0
			if input.(call).kind == saysGoodbye {
				got.present = want.present // who was gone already may be counted still
			}
			return want == got, next
		},
		Equal: func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) },
	}
}

package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// fullLine opens a room with an exact line whose only slot is taken for an hour, and so many in
// line. Places last for a minute.
func fullLine(t *testing.T, people int) (*door, *fallible, []queue.Ticket) {
	t.Helper()
	return fullLineThatKeepsPlaces(t, time.Minute, people)
}

func fullLineThatKeepsPlaces(t *testing.T, lasts time.Duration, people int) (*door, *fallible, []queue.Ticket) {
	t.Helper()
	s := settings(1, 1000)
	s.Method, s.SessionDuration, s.LineDropout = queue.Line, time.Hour, lasts
	d, store := openFallible(t, s, queue.Hold)
	d.enter()
	return d, store, d.joins(people)
}

// keepsNumber brings a ticket, which is to have the same number as before, and returns its
// successor.
func (d *door) keepsNumber(t queue.Ticket) queue.Ticket {
	d.Helper()
	got := d.visit(t)
	require.Equal(d, room.Queued, got.Outcome)
	assert.Equal(d, t.Number, got.Ticket.Number)
	assert.False(d, got.Rejoined)
	return got.Ticket
}

// passUnheard lets time go by while the store does not answer.
func (d *door) passUnheard(by time.Duration) {
	d.Helper()
	d.fails(errGone)
	d.now = d.now.Add(by)
}

func TestABlipOfTheStoreAtTheFirstCheckInsTakesNobodysNumber(t *testing.T) {
	d, store, line := fullLine(t, 3)
	d.at(interval)
	store.fail(errGone, nil)
	for i := range 2 {
		line[i] = d.keepsNumber(line[i])
		assert.LessOrEqual(t, line[i].Due().Sub(d.now), interval/4, "they come back soon")
	}
	another := d.join()
	assert.LessOrEqual(t, another.Due().Sub(d.now), interval/4)
	d.now = d.now.Add(300 * time.Millisecond)
	store.fail(nil, nil)
	d.sync()
	line[2] = d.keepsNumber(line[2])
	d.now = line[0].Due()
	d.sync()
	again := d.visit(line[0])
	assert.Equal(t, queue.Place{Number: 2, Length: 2}, again.Place)
	assert.False(t, again.Early, "they were told to")
	assert.False(t, d.visit(another).Rejoined)
	d.at(2*interval + 4*time.Second)
	d.keepsNumber(line[1])
}

func TestTwoCheckInsThatReachNoGateTakeNobodysNumber(t *testing.T) {
	const byDefault = 0
	d, _, line := fullLineThatKeepsPlaces(t, byDefault, 2)
	d.at(interval)
	line[0] = d.keepsNumber(line[0])
	for range 63 { // with a jitter of 0.15 three intervals are 69 s at most
		d.pass(time.Second)
	}
	d.keepsNumber(line[0])
}

func TestAnOutageOfAnyLengthTakesNobodysNumber(t *testing.T) {
	for _, outage := range []time.Duration{2 * interval, 50 * time.Second, 80 * time.Second, 10 * time.Minute} {
		t.Run(outage.String(), func(t *testing.T) {
			d, store, line := fullLine(t, 2)
			gone := d.join()
			d.at(interval)
			line[0], line[1], gone = d.keepsNumber(line[0]), d.keepsNumber(line[1]), d.keepsNumber(gone)
			end := d.now.Add(outage)
			store.fail(errGone, nil)
			for d.now < end {
				d.passUnheard(interval)
				line[0] = d.keepsNumber(line[0])
			}
			store.fail(nil, nil)
			d.pass(time.Second)
			d.join()
			line[0] = d.keepsNumber(line[0])
			if d.now.Sub(line[1].LastCheckIn) > time.Minute {
				assert.True(t, d.visit(gone).Rejoined, "who did not ask meanwhile is told")
			}
		})
	}
}

func TestWhoLosesTheirNumberIsToldSoOnce(t *testing.T) {
	d, _, line := fullLine(t, 2)
	d.at(interval)
	first, second := d.waits(line[0]), d.waits(line[1])
	d.at(interval + time.Minute)
	got := d.visit(first)
	assert.True(t, got.Rejoined)
	assert.Equal(t, uint64(4), got.Ticket.Number)
	assert.False(t, d.visit(got.Ticket).Rejoined)
	assert.True(t, d.visit(line[0]).Rejoined, "also to another copy of the ticket")
	assert.True(t, d.visit(second).Rejoined)
}

func TestWhoClosesThePageKeepsTheNumberForAsLongAsIsTold(t *testing.T) {
	d, _, line := fullLine(t, 2)
	s := d.room.Settings()
	kept := s.PlaceKept()
	old, last := line[0], line[0]
	for range 4 { // the page has a stream, and the cookie is from its opening
		d.now = last.Due()
		d.sync()
		last, line[1] = d.waits(last), d.waits(line[1])
	}
	told := last.LastCheckIn
	d.pass(time.Second)
	d.room.Leave(d.now.Time(), last)
	d.sync()
	d.pass(queue.LineReturn)
	assert.Zero(t, d.visit(line[1]).Place.Ahead, "others move up")
	d.now = told.Add(kept - time.Second)
	back := d.visit(old)
	assert.Equal(t, queue.Place{Number: 2, Length: 2}, back.Place)
	assert.False(t, back.Rejoined)
	d.room.Leave(d.now.Time(), back.Ticket)
	d.sync()
	d.pass(kept)
	assert.True(t, d.visit(old).Rejoined)
}

func TestWhoWasRemovedFromTheLineDoesNotComeBackToTheirNumber(t *testing.T) {
	s := settings(1, 1000)
	s.Method, s.SessionDuration = queue.Line, time.Second
	s.QueueAll = true
	d := open(t, s)
	waiting := d.join()
	found, err := d.room.Remove(t.Context(), d.now.Time(), waiting.ID)
	require.NoError(t, err)
	require.True(t, found)
	for range 6 {
		d.pass(10 * time.Second)
		got := d.visit(waiting)
		assert.True(t, got.Rejoined)
		assert.NotEqual(t, waiting.Number, got.Ticket.Number)
	}
}

// lostAnswer opens a room whose sessions are shorter than the interval, and in which two wait. The
// answer to the claim of the first is lost.
func lostAnswer(t *testing.T, s queue.Settings) (d *door, store *fallible, first, second queue.Ticket) {
	t.Helper()
	s.SessionDuration = 10 * time.Second
	d, store = openFallible(t, s, queue.Hold)
	first, second = gates{d}.loseAnswer(store)
	return d, store, first, second
}

// loseAnswer has two wait at the first gate, whose store loses the answer to the claim of the first
// of them.
func (g gates) loseAnswer(store *fallible) (first, second queue.Ticket) {
	g[0].enter()
	first = g[0].join()
	g.at(start.Add(time.Second))
	second = g[0].join()
	g.at(max(first.Due(), start.Add(12*time.Second)))
	store.fail(nil, errLost)
	first = g[0].waits(first)
	store.fail(nil, nil)
	return first, second
}

func inEitherOrder(t *testing.T, test func(t *testing.T, s queue.Settings)) {
	for _, method := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			s := settings(1, 1000)
			s.Method = method
			test(t, s)
		})
	}
}

func TestWhoseAnswerWasLostIsCalledSoon(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		d, _, first, _ := lostAnswer(t, s)
		assert.LessOrEqual(t, first.Due().Sub(d.now), 5*time.Second)
		d.sync()
		d.now = first.Due()
		d.sync()
		d.isIn(first)
	})
}

func TestWhoseAnswerWasLostGoesBackToTheirPlaceOnce(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		for name, answersAgain := range map[string]time.Duration{"while the session lasts": time.Second, "after it": 15 * time.Second} {
			t.Run(name, func(t *testing.T) {
				d, store, first, second := lostAnswer(t, s)
				store.fail(errGone, nil)
				d.passUnheard(answersAgain)
				store.fail(nil, nil)
				d.sync()
				d.pass(20 * time.Second)
				d.enterAsTurns(second)
				late := d.join()
				d.pass(time.Second)
				back := d.visit(first)
				assert.Equal(t, room.Queued, back.Outcome)
				assert.False(t, back.Rejoined)
				assert.Equal(t, first.ArrivedAt, back.Ticket.ArrivedAt)
				d.now = max(back.Ticket.Due(), late.Due(), d.now.Add(11*time.Second))
				d.sync()
				assert.Equal(t, room.Queued, d.visit(late).Outcome, "the slot is kept for who came first")
				d.isIn(back.Ticket)
				d.pass(20 * time.Second)
				for _, used := range []queue.Ticket{first, back.Ticket} {
					for range 2 {
						assert.True(t, d.visit(used).Rejoined, "not twice")
					}
				}
			})
		}
	})
}

func TestWhoLosesTwoAnswersGoesBackTwice(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		d, store, first, second := lostAnswer(t, s)
		d.sync()
		d.pass(11 * time.Second)
		d.enterAsTurns(second)
		for range 2 {
			back := d.keepsPlace(first)
			d.now = max(back.Due(), d.now.Add(11*time.Second))
			d.sync()
			store.fail(nil, errLost)
			first = d.waits(back)
			store.fail(nil, nil)
			d.sync()
			d.pass(11 * time.Second)
			d.enter()
		}
		d.keepsPlace(first)
	})
}

// keepsPlace brings a ticket that is to wait at the place of its arrival, and returns its
// successor.
func (d *door) keepsPlace(t queue.Ticket) queue.Ticket {
	d.Helper()
	got := d.visit(t)
	require.Equal(d, room.Queued, got.Outcome)
	assert.False(d, got.Rejoined)
	assert.Equal(d, t.ArrivedAt, got.Ticket.ArrivedAt)
	return got.Ticket
}

// lostAnswerOfTwo is lostAnswer with one more gate, whose answers come.
func lostAnswerOfTwo(t *testing.T, s queue.Settings) (g gates, store *fallible, first, second queue.Ticket) {
	t.Helper()
	s.SessionDuration = 10 * time.Second
	d, store := openFallible(t, s, queue.Hold)
	g = gates{d, openWith(t, room.Config{Settings: d.room.Settings(), Store: store.Store})}
	g.sync()
	first, second = g.loseAnswer(store)
	return g, store, first, second
}

func TestWhoseAnswerWasLostGoesBackToTheirPlaceAtAnyGate(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		g, _, first, second := lostAnswerOfTwo(t, s)
		g.sync()
		g.at(g[0].now.Add(11 * time.Second))
		g[1].enterAsTurns(second)
		g.at(g[1].now)
		late := g[1].join()
		g.at(g[0].now.Add(time.Second))
		back := g[1].keepsPlace(first)
		var last queue.Ticket
		for in := false; !in; {
			g.at(back.Due())
			late = g[1].waits(late) // the slot is kept for who came first
			got := g[1].visit(back)
			last = back
			back, in = got.Ticket, got.Outcome == room.Admitted
		}
		g.at(g[0].now.Add(11 * time.Second))
		g[1].enterAsTurns(late)
		g.at(g[1].now)
		for _, d := range g {
			for _, used := range []queue.Ticket{first, last} {
				assert.True(t, d.visit(used).Rejoined, "not twice")
			}
		}
	})
}

func TestWhoWasToldAtAnotherGateThatTheyAreInDoesNotGoBack(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		s.DisableSessionRenewal = true
		for _, asksAgain := range []time.Duration{0, 8 * time.Second, 30 * time.Second} {
			t.Run("the first gate asks the store again after "+asksAgain.String(), func(t *testing.T) {
				g, store, first, _ := lostAnswerOfTwo(t, s)
				if asksAgain > 0 {
					store.fail(errGone, nil)
				}
				for range 7 {
					g[0].now, g[1].now = g[0].now.Add(time.Second), g[1].now.Add(time.Second)
					g[1].sync()
				}
				g[1].isIn(first)
				g[1].pass(0)
				g[0].now = g[0].now.Add(asksAgain)
				store.fail(nil, nil)
				g.at(g[0].now)
				g.at(g[0].now.Add(20 * time.Second))
				g[0].enter()
				for _, d := range g {
					assert.True(t, d.visit(first).Rejoined)
				}
			})
		}
	})
}

// enterAsTurns has a visitor check in until they are in.
func (d *door) enterAsTurns(t queue.Ticket) {
	d.Helper()
	for range 10 {
		got := d.visit(t)
		if got.Outcome == room.Admitted {
			return
		}
		t = got.Ticket
		d.now = t.Due()
		d.sync()
	}
	d.Fatal("they are not let in")
}

func TestWhoWasToldThatTheyAreInDoesNotGoBack(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		d, _, first, _ := lostAnswer(t, s)
		d.pass(time.Second)
		d.isIn(first)
		d.pass(time.Minute)
		assert.NotEqual(t, first.ArrivedAt, d.visit(first).Ticket.ArrivedAt)
	})
}

func TestNewcomerWhoseAnswerWasLostDoesNotGoBack(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		s.SessionDuration = 10 * time.Second
		d, store := openFallible(t, s, queue.Hold)
		store.fail(nil, errLost)
		first := d.join()
		store.fail(nil, nil)
		d.pass(15 * time.Second)
		d.enter()
		assert.NotEqual(t, first.ArrivedAt, d.waits(first).ArrivedAt)
	})
}

func TestWhoWasLetInWithoutTheStoreAfterALostAnswerDoesNotGoBack(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		for name, policy := range map[string]queue.ErrorPolicy{"share": queue.Share, "open": queue.AdmitAll} {
			t.Run(name, func(t *testing.T) {
				s.SessionDuration = 10 * time.Second
				d, store := openFallible(t, s, policy)
				d.enter()
				first := d.join()
				d.now = max(first.Due(), start.Add(12*time.Second))
				d.sync()
				store.fail(nil, errLost)
				assert.Equal(t, room.Admitted, d.visit(first).Outcome)
				store.fail(nil, nil)
				d.sync()
				d.pass(11 * time.Second)
				d.enter()
				assert.True(t, d.visit(first).Rejoined)
			})
		}
	})
}

package room_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// A room in which 33 people are let in within two seconds has all who come in a minute in one
// bucket.
func TestPlacesInABucketAreThoseOfTheArrivalsInIt(t *testing.T) {
	s := settings(10_000, 1000)
	s.QueueAll = true
	d := open(t, s)
	d.joins(20)
	d.pass(10 * time.Second)
	middle := d.join()
	d.pass(5 * time.Second)
	d.joins(10)
	d.pass(time.Second)
	ahead := func(arrived queue.Instant) int {
		people, known := d.room.Numbers().Ahead(arrived)
		require.True(t, known)
		return people
	}
	assert.Equal(t, 20, ahead(middle.ArrivedAt))
	assert.Equal(t, 21, ahead(middle.ArrivedAt.Add(4*time.Second)), "nobody else came for a while")
	assert.Positive(t, ahead(start), "nobody is told that they are the first of many")
}

// However fast people come to a gate, each is told exactly how many came before, from the first
// answer on.
func TestAPlaceThatWasToldDoesNotRise(t *testing.T) {
	for _, c := range []struct {
		name      string
		perSecond int
		bucket    time.Duration
	}{{"20 a second", 20, 0}, {"100 a second", 100, 0}, {"100 a second, in buckets of a minute", 100, time.Minute}} {
		t.Run(c.name, func(t *testing.T) {
			s := settings(1, 1000)
			s.Bucket = c.bucket
			d := open(t, s)
			d.enter()
			rng := rand.New(rand.NewPCG(1, 2))
			var line []queue.Ticket
			for ; d.now < start.Add(70*time.Second); d.now++ {
				if d.now.Sub(start)%(100*time.Millisecond) == 0 {
					d.sync()
				}
				if len(line) < 20*c.perSecond && rng.IntN(1000) < c.perSecond {
					line = append(line, d.join())
					requireAhead(t, d, len(line)-1, line)
				}
				for i := range line {
					if line[i].Due() == d.now {
						line[i] = d.waits(line[i])
						requireAhead(t, d, i, line)
					}
				}
			}
		})
	}
}

func TestSomebodyWhoLeavesIsAheadOfNobody(t *testing.T) {
	d := open(t, settings(1, 1000))
	d.enter()
	d.at(time.Minute + time.Second) // the gate has seen all who came in this minute
	line := []queue.Ticket{d.join()}
	d.pass(time.Second)
	line = append(line, d.join())
	d.pass(time.Second)
	requireAhead(t, d, 1, line)
	d.room.Leave(d.now.Time(), line[0])
	d.pass(time.Second)
	requireAhead(t, d, 0, line[1:])
}

// A bucket may have begun before the gate did, or before anybody waited.
func TestTheFirstWhoWaitAreToldTheirPlaces(t *testing.T) {
	for _, after := range []time.Duration{0, 30 * time.Second} {
		s := settings(1, 1000)
		s.Bucket = time.Minute
		d := open(t, s)
		d.enter()
		d.pass(after)
		var line []queue.Ticket
		for range 5 {
			d.pass(time.Second)
			line = append(line, d.join())
		}
		for range 10 {
			d.pass(time.Second)
			for i := range line {
				requireAhead(t, d, i, line)
			}
		}
	}
}

// requireAhead requires that somebody is told that so many came before them.
func requireAhead(t *testing.T, d *door, people int, line []queue.Ticket) {
	t.Helper()
	told, known := d.room.Numbers().Ahead(line[people].ArrivedAt)
	require.True(t, known)
	require.Equal(t, people, told, "%v after the start, to one of %d", d.now.Sub(start), len(line))
}

// Where a bucket is cut, all are counted in the first part until they check in.
func TestPlacesAreTheSameWhenABucketHasBeenCut(t *testing.T) {
	s := settings(1, 60) // two are let in within two seconds
	s.QueueAll = true
	d := open(t, s)
	var line []queue.Ticket
	checkIns := func() {
		for i := range line {
			if d.now >= line[i].Due() {
				line[i] = d.visit(line[i]).Ticket
			}
		}
	}
	for range 100 {
		line = append(line, d.join())
		d.pass(time.Second)
		checkIns()
	}
	for _, ticket := range line[:60] {
		d.room.Leave(d.now.Time(), ticket)
	}
	line = line[60:]
	for range 120 {
		d.pass(time.Second)
		for i, ticket := range line {
			people, known := d.room.Numbers().Ahead(ticket.ArrivedAt)
			require.True(t, known)
			require.InDelta(t, i, people, 2, "%v after the first came", d.now.Sub(start))
		}
		checkIns()
	}
}

func TestNothingIsSaidOfTheWaitWhenNobodyIsLetIn(t *testing.T) {
	unknown := func(t *testing.T, d *door) {
		t.Helper()
		assert.Equal(t, estimate.Wait{}, d.stand().Wait(start))
		assert.Equal(t, estimate.Wait{}, d.stand().LongestWait())
	}
	t.Run("with queue_all", func(t *testing.T) {
		d, _ := closed(t, settings(5, 5), 3)
		unknown(t, d)
	})
	t.Run("while admissions are paused", func(t *testing.T) {
		d := full(t, settings(1, 1))
		d.room.Pause(true)
		d.join()
		unknown(t, d)
	})
	t.Run("in reject", func(t *testing.T) {
		s := settings(5, 5)
		s.Method = queue.Reject
		unknown(t, open(t, s))
	})
	t.Run("when nobody was let in lately, for longer than visitors stay as a rule", func(t *testing.T) {
		s := settings(1, 1)
		d := open(t, s)
		in, waiting := d.enter(), d.join()
		for d.now < start.Add(3*s.SessionDuration+time.Minute) {
			d.pass(interval)
			in, waiting = d.visit(in).Ticket, d.waits(waiting)
		}
		unknown(t, d)
	})
}

func TestWaitIsTakenFromTheLimitsBeforeThereIsAMeasure(t *testing.T) {
	for _, c := range []struct {
		name string
		s    queue.Settings
		want float64
	}{
		{"new_users_per_minute holds people back", settings(1000, 30), 30},
		{"total_active_users does, which visitors hold for a session duration and half as long before it", settings(100, 1000), 100 / 7.5},
	} {
		d := open(t, c.s)
		assert.InDelta(t, c.want, d.stand().Rate, 1e-9, c.name)
	}
}

func TestWaitIsTakenFromTheAdmissionsOfTheLastMinutes(t *testing.T) {
	s := settings(1000, 4)
	s.QueueAll = true
	d := open(t, s)
	line := d.joins(100)
	s.QueueAll = false
	d.configure(s)
	for d.now < start.Add(3*time.Minute) {
		d.pass(interval)
		d.checkIns(line)
	}
	assert.InDelta(t, 4, d.stand().Rate, 1e-9)
	assert.True(t, d.stand().LongestWait().Known)
}

func TestNumbersAreRenewedOnceASecondAndWhenSomethingIsNew(t *testing.T) {
	s := settings(1, 1)
	s.DisableSessionRenewal = true
	d := open(t, s)
	first := d.room.Numbers()
	d.pass(900 * time.Millisecond)
	assert.Same(t, first, d.room.Numbers())
	d.pass(100 * time.Millisecond)
	second := d.room.Numbers()
	assert.NotSame(t, first, second)

	d.enter()
	d.join()
	d.pass(time.Millisecond)
	third := d.room.Numbers()
	assert.Equal(t, 1, third.Waiting, "people have begun to wait")
	assert.False(t, third.Wait(d.now).Known, "how long they will cannot be told in the first seconds")
	d.pass(2 * time.Second)
	settled := d.room.Numbers()
	assert.True(t, settled.Wait(d.now).Known)
	d.join()
	d.pass(time.Millisecond)
	assert.Same(t, settled, d.room.Numbers())
	d.room.Pause(true)
	d.pass(time.Millisecond)
	assert.True(t, d.room.Numbers().Paused)
	s.QueueAll = true
	d.configure(s)
	assert.Equal(t, s, d.room.Numbers().Settings)
}

// For how long the first will stay nobody knows, also if one came and left earlier. Only where
// new_users_per_minute alone decides, or all sessions are as long, a wait is known.
func TestAWaitThatRestsOnAGuessIsUnknownUntilSlotsHaveBeenGivenOn(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Line, queue.Random} {
		for name, c := range map[string]struct {
			total, perMinute int
			fixed, known     bool
		}{
			"slots decide":                    {5, 1000, false, false},
			"the allowance decides":           {1000, 5, false, true},
			"slots decide, of fixed sessions": {5, 1000, true, true},
		} {
			t.Run(method.String()+", "+name, func(t *testing.T) {
				s := settings(c.total, c.perMinute)
				s.Method, s.DisableSessionRenewal = method, c.fixed
				d := open(t, s)
				d.enter()
				for d.now < start.Add(s.SessionDuration+time.Minute) {
					d.pass(time.Second)
				}
				s.QueueAll = true
				d.configure(s)
				began, line := d.now, d.joins(20)
				s.QueueAll = false
				d.configure(s)
				told := func(known bool) {
					t.Helper()
					n := d.stand()
					assert.Equal(t, known, n.LongestWait().Known)
					assert.Equal(t, known, n.WaitAt(queue.Place{Number: 20, Ahead: 19, Length: 20}).Known)
					_, ahead := n.Ahead(line[19].ArrivedAt)
					assert.Equal(t, method == queue.FIFO, ahead, "their place is known")
				}
				until := func(moment time.Duration) {
					for d.now < began.Add(moment) {
						d.pass(time.Second)
						for i, ticket := range line {
							if ticket.State == queue.Waiting && d.now >= ticket.Due() {
								line[i] = d.visit(ticket).Ticket
							}
						}
					}
				}
				until(30 * time.Second)
				told(c.known)
				if !c.known {
					until(s.SessionDuration + time.Minute)
					told(true)
				}
			})
		}
	}
}

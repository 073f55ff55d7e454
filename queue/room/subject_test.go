package room_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

var ann = room.SubjectID("shop", "ann")

// named brings a ticket in the name of a subject.
func (d *door) named(id queue.ID, t queue.Ticket) room.Decision {
	return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: t, Subject: id})
}

func TestSubjectIDsDifferByRoomAndName(t *testing.T) {
	seen := map[queue.ID]string{}
	for _, of := range [][2]string{{"a", "b"}, {"b", "a"}, {"ab", ""}, {"", "ab"}, {"a", "b "}} {
		id := room.SubjectID(of[0], of[1])
		assert.NotContains(t, seen, id)
		seen[id] = fmt.Sprint(of)
	}
	assert.Equal(t, ann, room.SubjectID("shop", "ann"), "the same wherever and whenever it is asked for")
}

func TestSecondDeviceOfASubjectHasTheSamePlace(t *testing.T) {
	d := full(t, settings(1, 10))
	first := d.named(ann, queue.Ticket{})
	require.Equal(t, room.Queued, first.Outcome)
	assert.Equal(t, ann, first.Ticket.ID)
	d.pass(7 * time.Second)
	second := d.named(ann, queue.Ticket{})
	assert.Equal(t, first.Ticket, second.Ticket, "arrived with the first, and due with it")
	assert.True(t, second.Issue)
	assert.Equal(t, 1, d.stand().Waiting)

	d.now = first.Ticket.Due()
	first = d.named(ann, first.Ticket)
	early := d.named(ann, second.Ticket)
	assert.Equal(t, first.Ticket.Due().Floor(time.Second), early.Ticket.Due().Floor(time.Second), "checked in with the first device")
	assert.Equal(t, start, early.Ticket.ArrivedAt)
	assert.Equal(t, 1, d.stand().Waiting)
	d.pass(interval + 6*time.Second)
	assert.Zero(t, d.stand().Waiting, "nobody is left counted")
}

func TestSecondDeviceOfASubjectHasTheSameSlot(t *testing.T) {
	store := memstore.NewShared(time.Second)
	d, other := openOn(t, settings(1, 10), store), openOn(t, settings(1, 10), store)
	in := d.named(ann, queue.Ticket{})
	require.Equal(t, room.Admitted, in.Outcome)
	again := d.named(ann, queue.Ticket{})
	assert.Equal(t, room.Admitted, again.Outcome)
	assert.False(t, again.Fresh)
	assert.Equal(t, ann, again.Ticket.ID)
	elsewhere := other.named(ann, queue.Ticket{})
	assert.Equal(t, room.Admitted, elsewhere.Outcome, "at another gate")
	assert.False(t, elsewhere.Fresh)
	assert.Equal(t, 1, d.stand().Active)
	assert.Equal(t, room.Queued, d.named(room.SubjectID("shop", "ben"), queue.Ticket{}).Outcome)
}

func TestSubjectWaitsAgainUnderTheSameIDAfterASession(t *testing.T) {
	limits := settings(1, 10)
	limits.SessionDuration = time.Minute
	store := memstore.NewShared(0)
	d, other := openOn(t, limits, store), openOn(t, limits, store)
	d.enter()
	old := d.named(ann, queue.Ticket{}).Ticket
	elsewhere := other.named(ann, queue.Ticket{}).Ticket
	d.at(50 * time.Second)
	old = d.named(ann, old).Ticket
	d.at(time.Minute + 11*time.Second)
	in := d.named(ann, old)
	require.Equal(t, room.Admitted, in.Outcome)
	assert.Equal(t, time.Minute+11*time.Second, in.Waited)
	ends := in.Ticket.Expires.Add(time.Second)
	d.now = ends
	d.sync()
	d.enter()
	d.pass(10 * time.Second)
	for name, brought := range map[string]queue.Ticket{
		"with the session's ticket": in.Ticket, "with none": {},
		"with one from before it": old, "with one from before it, of another gate": elsewhere,
	} {
		got := d.named(ann, brought)
		require.Equal(t, room.Queued, got.Outcome, name)
		assert.Equal(t, ann, got.Ticket.ID, name)
		assert.Equal(t, ends.Add(10*time.Second), got.Ticket.ArrivedAt, name)
		again := d.named(ann, got.Ticket)
		assert.Equal(t, got.Ticket, again.Ticket, name)
		assert.Equal(t, 1, d.stand().Waiting, name)
	}
}

func TestSubjectsPlaceOfAnotherGateIsTheirsAfterASessionHere(t *testing.T) {
	limits := settings(1, 10)
	limits.SessionDuration = time.Minute
	store := memstore.NewShared(0)
	d, other := openOn(t, limits, store), openOn(t, limits, store)
	d.enter()
	waiting := d.named(ann, queue.Ticket{}).Ticket
	d.at(time.Minute + time.Second)
	require.Equal(t, room.Admitted, d.named(ann, waiting).Outcome)
	d.at(2*time.Minute + 2*time.Second)
	d.enter()
	other.at(2*time.Minute + 3*time.Second)
	again := other.named(ann, queue.Ticket{})
	require.Equal(t, room.Queued, again.Outcome)
	d.now = again.Ticket.Due()
	got := d.named(ann, again.Ticket)
	assert.Equal(t, again.Ticket.ArrivedAt, got.Ticket.ArrivedAt)
}

func TestPlaceFromBeforeAnAdmissionOfASubjectIsUsed(t *testing.T) {
	limits := settings(1, 10)
	limits.SessionDuration = time.Minute
	store := memstore.NewShared(0)
	d, other := openOn(t, limits, store), openOn(t, limits, store)
	d.enter()
	old := other.named(ann, queue.Ticket{}).Ticket
	d.at(time.Minute + 30*time.Second)
	require.Equal(t, room.Admitted, d.named(ann, queue.Ticket{}).Outcome, "nobody is there, and they come as a newcomer")
	d.at(2*time.Minute + 31*time.Second)
	d.enter()
	got := d.named(ann, old)
	assert.Equal(t, room.Queued, got.Outcome)
	assert.Equal(t, d.now, got.Ticket.ArrivedAt)
}

func TestSubjectIsCountedWhereTheEarliestOfTheirTicketsSays(t *testing.T) {
	store := memstore.NewShared(0)
	d, other := openOn(t, settings(1, 10), store), openOn(t, settings(1, 10), store)
	d.enter()
	early := d.named(ann, queue.Ticket{}).Ticket
	other.at(90 * time.Second)
	late := other.named(ann, queue.Ticket{}).Ticket
	assert.Equal(t, other.now, late.ArrivedAt)
	other.now = late.Due()
	got := other.named(ann, early)
	assert.Equal(t, start, got.Ticket.ArrivedAt)
	other.sync()
	buckets := other.stand().Buckets
	require.Len(t, buckets, 1)
	assert.Equal(t, queue.BucketCount{Bucket: start, Waiting: 1}, buckets[0].BucketCount)
}

// The claims of both devices go in one call, and the device that made it has its answer before the
// other, whichever of them came first.
func TestDevicesThatArriveAtOnceHaveOnePlace(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		for _, came := range [][]time.Duration{{0, time.Second}, {time.Second, 0}} {
			s := settings(1, 10)
			s.Method = method
			store, waits, answered, waiting := &meanwhile{Store: memstore.New()}, make(chan struct{}), make(chan struct{}), 0
			d := openWith(t, room.Config{Settings: s, Store: store, Wait: func(ready <-chan struct{}, _ time.Duration) {
				waiting++
				last := waiting == len(came)
				waits <- struct{}{}
				if <-ready; last {
					<-answered
				}
			}})
			d.enter()
			devices := make([]room.Decision, len(came))
			var asking sync.WaitGroup
			store.happens = func() {
				for i, after := range came {
					asking.Go(func() {
						devices[i] = d.room.Visit(context.Background(), d.now.Add(after).Time(), room.Request{Subject: ann})
						if i == 0 {
							close(answered)
						}
					})
					<-waits
				}
			}
			require.Equal(t, room.Queued, d.named(room.SubjectID("shop", "ben"), queue.Ticket{}).Outcome)
			asking.Wait()
			assert.Equal(t, room.Queued, devices[0].Outcome, method)
			assert.Equal(t, devices[0].Ticket, devices[1].Ticket, method)
			assert.Equal(t, 2, d.stand().Waiting, method)
			s.Method = queue.FIFO
			d.configure(s)
			assert.Equal(t, 2, d.stand().Waiting, method)
		}
	}
}

func TestSubjectWhosePlaceHasEndedIsCountedOnce(t *testing.T) {
	s := settings(1, 10)
	s.RefreshInterval, s.QueueTicketTTL = time.Second, 2*time.Second
	d := full(t, s)
	d.room.Visit(context.Background(), d.now.Time(), room.Request{Subject: ann, Ask: room.Ask{By: room.HiddenPage}})
	d.pass(10 * time.Second)
	assert.Equal(t, 1, d.stand().Waiting)
	d.named(ann, queue.Ticket{})
	assert.Equal(t, 1, d.stand().Waiting)
}

func TestWhoJoinsAnExactLineAgainIsCountedWhereTheyJoined(t *testing.T) {
	for name, id := range map[string]queue.ID{"somebody": {}, "a subject": ann} {
		s := inLine(1, 10)
		d := open(t, s)
		d.enter()
		waiting := d.named(id, queue.Ticket{}).Ticket
		d.at(70 * time.Second)
		again := d.named(id, waiting)
		require.True(t, again.Place.Joined, name)
		s.Method = queue.FIFO
		d.configure(s)
		buckets := d.stand().Buckets
		require.Len(t, buckets, 1, name)
		assert.Equal(t, queue.BucketCount{Bucket: start.Add(time.Minute), Waiting: 1}, buckets[0].BucketCount, name)
	}
}

func TestWhoLogsInWaitsAsTheSubject(t *testing.T) {
	d := full(t, settings(1, 10))
	stranger := d.join()
	d.pass(3 * time.Second)
	got := d.named(ann, stranger)
	assert.Equal(t, room.Queued, got.Outcome)
	assert.Equal(t, ann, got.Ticket.ID)
	assert.Equal(t, d.now, got.Ticket.ArrivedAt)
	assert.Equal(t, 1, d.stand().Waiting, "one person")
	assert.Equal(t, ann, d.waits(got.Ticket).ID, "asks once without being named")
}

func TestGoodbyeOfOneDeviceIsNotTheSubjects(t *testing.T) {
	d := full(t, settings(1, 10))
	got := d.named(ann, queue.Ticket{})
	d.room.Leave(d.now.Time(), got.Ticket)
	assert.Equal(t, 1, d.stand().Waiting)
}

func TestSubjectWhoseSessionWasRevokedTakesNeitherSlotNorPlaceUntilThatEnds(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.named(ann, queue.Ticket{})
	d.room.Revoke(d.now.Time(), in.Ticket)
	for _, brought := range []queue.Ticket{in.Ticket, {}, in.Ticket} {
		d.pass(10 * time.Second)
		got := d.named(ann, brought)
		assert.Equal(t, room.Queued, got.Outcome)
		assert.False(t, got.Issue)
		assert.Zero(t, d.stand().Waiting)
	}
	d.room.Pause(true)
	assert.Equal(t, room.Queued, d.named(ann, queue.Ticket{}).Outcome)
	assert.Equal(t, ann, d.checkIn(in.Ticket).Ticket.ID, "nor under another id by a check-in with the cookie alone")
	assert.Zero(t, d.stand().Waiting, "nor while nobody is let in")
	d.room.Pause(false)
	assert.Equal(t, room.Admitted, d.arrive().Outcome, "nothing is kept for them")
	d.pass(5 * time.Minute)
	assert.Equal(t, room.Admitted, d.named(ann, queue.Ticket{}).Outcome)
}

func TestPeekTellsHowAVisitorStandsAndChangesNothing(t *testing.T) {
	d := open(t, settings(1, 10))
	peek := func(id queue.ID, t queue.Ticket) queue.Ticket {
		got, _ := d.room.Peek(context.Background(), d.now.Time(), room.Request{Ticket: t, Subject: id})
		return got
	}
	assert.Zero(t, peek(queue.ID{}, queue.Ticket{}))
	assert.Zero(t, peek(ann, queue.Ticket{}))
	assert.Zero(t, d.stand().Waiting)
	in := d.named(ann, queue.Ticket{}).Ticket
	assert.Equal(t, in.AcceptedAt, peek(ann, in).AcceptedAt)
	assert.InDelta(t, 0, peek(ann, in).Expires.Sub(in.Expires), float64(time.Second), "as this node keeps it")
	d.pass(time.Minute)
	other := peek(ann, queue.Ticket{})
	assert.Equal(t, queue.Accepted, other.State)
	assert.Equal(t, in.AcceptedAt, other.AcceptedAt)
	waiting := d.join()
	d.pass(30 * time.Second)
	assert.Equal(t, waiting, peek(queue.ID{}, waiting))
	assert.Zero(t, d.stand().Waiting, "a look is no check-in")
	d.at(5*time.Minute - 10*time.Second)
	assert.Equal(t, queue.Accepted, peek(ann, in).State)
	waiting = d.waits(waiting)
	d.at(5*time.Minute + 10*time.Second)
	assert.Zero(t, peek(ann, in), "a look renews nothing")
	d.now = waiting.Due()
	d.isIn(waiting)
	assert.Equal(t, queue.Accepted, peek(queue.ID{}, waiting).State, "an older ticket of someone who is in")
}

// inLine are settings of a room with an exact line.
func inLine(total, perMinute int) queue.Settings {
	s := settings(total, perMinute)
	s.Method, s.LineDropout = queue.Line, time.Minute
	return s
}

func TestSubjectHasOnePlaceInAnExactLine(t *testing.T) {
	store := memstore.NewShared(time.Second)
	d, other := openOn(t, inLine(1, 10), store), openOn(t, inLine(1, 10), store)
	d.enter()
	first := d.named(ann, queue.Ticket{})
	stranger := d.join()
	for name, at := range map[string]*door{"here": d, "at another gate": other} {
		second := at.named(ann, queue.Ticket{})
		assert.Equal(t, room.Queued, second.Outcome, name)
		assert.Equal(t, first.Place.Number, second.Ticket.Number, name)
		assert.Equal(t, 0, second.Place.Ahead, name)
		assert.Equal(t, 2, second.Place.Length, name)
	}
	raised := d.room.Visit(context.Background(), d.now.Time(), room.Request{Subject: room.SubjectID("shop", "ben"), Priority: 3})
	assert.Equal(t, int16(3), raised.Ticket.Priority)
	assert.Zero(t, raised.Place.Ahead, "signed for")
	_, place := d.room.Peek(context.Background(), d.now.Time(), room.Request{Ticket: stranger})
	assert.Equal(t, 2, place.Ahead)
	seen, place := d.room.Peek(context.Background(), d.now.Time(), room.Request{Subject: ann})
	assert.Equal(t, queue.Waiting, seen.State)
	assert.Equal(t, 1, place.Ahead)
	d.pass(61 * time.Second)
	seen, _ = d.room.Peek(context.Background(), d.now.Time(), room.Request{Ticket: stranger})
	assert.Zero(t, seen, "a look is no check-in: the place is lost")
}

func TestWhoIsRemovedIsANewcomer(t *testing.T) {
	d := open(t, inLine(1, 10))
	in, first, second := d.enter(), d.join(), d.join()
	d.pass(5 * time.Second)
	for name, id := range map[string]queue.ID{"who waits": first.ID, "who is in": in.ID} {
		found, err := d.room.Remove(context.Background(), d.now.Time(), id)
		require.NoError(t, err)
		assert.True(t, found, name)
	}
	found, err := d.room.Remove(context.Background(), d.now.Time(), ann)
	require.NoError(t, err)
	assert.False(t, found, "who is neither")
	back := d.visit(first)
	assert.Equal(t, room.Queued, back.Outcome)
	assert.NotEqual(t, first.ID, back.Ticket.ID)
	assert.Greater(t, back.Ticket.Number, second.Number, "at the end")
	d.pass(queue.LineReturn)
	d.now = second.Due()
	d.isIn(second)
	assert.Equal(t, room.Queued, d.visit(in).Outcome)
}

// TestDevicesOfASubjectHaveOnePlaceAndOneSlot has subjects with several devices
// each, which keep their cookies or lose them.
func TestDevicesOfASubjectHaveOnePlaceAndOneSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSettings(t)
		s.QueueAll, s.Method = false, rapid.SampledFrom([]queue.Method{queue.FIFO, queue.Random, queue.Line}).Draw(t, "by")
		w := &world{T: t, settings: s, oracle: newOracle(t, s), random: newRandom(t), now: start}
		w.open()
		subjects := rapid.IntRange(1, 5).Draw(t, "subjects")
		devices := make([][3]queue.Ticket, subjects)
		in := map[queue.ID]queue.Instant{} // until when a session lasts at most
		for range rapid.IntRange(1, 120).Draw(t, "things") {
			i, j := rapid.IntRange(0, subjects-1).Draw(t, "who"), rapid.IntRange(0, 2).Draw(t, "with")
			id, device := room.SubjectID("shop", fmt.Sprint(i)), &devices[i][j]
			switch rapid.IntRange(0, 7).Draw(t, "thing") {
			case 0:
				*device = queue.Ticket{} // its cookies are lost
			case 1:
				w.shortWhile()
			case 2:
				w.longWhile()
			case 3:
				w.room.Leave(w.now.Time(), *device)
			case 4:
				device = new(queue.Ticket) // as a browser that keeps none
				fallthrough
			default:
				d := w.room.Visit(context.Background(), w.now.Time(), room.Request{Ticket: *device, Subject: id})
				judgeSubject(t, w.now, id, *device, d, in)
				if d.Issue {
					*device = d.Ticket
				}
			}
			n, err := w.room.CurrentNumbers(context.Background(), w.now.Time())
			require.NoError(t, err)
			require.LessOrEqual(t, n.Active, subjects)
			require.LessOrEqual(t, n.Waiting, subjects, "nobody is counted twice")
			require.GreaterOrEqual(t, n.Waiting, 0)
		}
		w.pass(90 * time.Second)
		n, err := w.room.CurrentNumbers(context.Background(), w.now.Time())
		require.NoError(t, err)
		require.Zero(t, n.Waiting, "and nobody for ever")
		require.NoError(t, w.store.Close())
	})
}

// judgeSubject judges the answer to one device by what the others were told.
func judgeSubject(t *rapid.T, now queue.Instant, id queue.ID, brought queue.Ticket, d room.Decision, in map[queue.ID]queue.Instant) {
	require.Equal(t, id, d.Ticket.ID)
	require.True(t, d.Issue || d.Ticket == brought, "what a device does not have it is given")
	if d.Outcome != room.Admitted {
		return
	}
	if d.Fresh {
		// A node keeps the ends of sessions to an eighth of a second.
		require.LessOrEqual(t, in[id], now.Add(time.Second/8), "one subject, one slot")
	}
	in[id] = max(in[id], d.Ticket.Expires)
}

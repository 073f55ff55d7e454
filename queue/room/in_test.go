package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

func TestNewcomerEntersAnEmptyRoom(t *testing.T) {
	d := open(t, settings(1, 10))
	d.pass(3 * time.Second)
	got := d.arrive()
	assert.Equal(t, room.Decision{
		Outcome: room.Admitted, Issue: true, Fresh: true,
		Ticket: queue.Ticket{State: queue.Accepted, ID: got.Ticket.ID, LastCheckIn: d.now, AcceptedAt: d.now, Expires: d.now.Add(5 * time.Minute)},
	}, got)
}

func TestWhoWaitedIsToldForHowLong(t *testing.T) {
	d := full(t, settings(1, 10))
	d.at(time.Minute + 7*time.Second)
	waiting := d.join()
	d.at(5*time.Minute + time.Second)
	got := d.visit(waiting)
	assert.Equal(t, room.Admitted, got.Outcome)
	assert.True(t, got.Fresh)
	assert.Equal(t, 3*time.Minute+54*time.Second, got.Waited)
	again := d.visit(waiting)
	assert.Equal(t, room.Admitted, again.Outcome, "the old ticket, of someone who is in")
	assert.False(t, again.Fresh)
}

func TestAcceptedTicketIsIssuedAgainAfterAnEighthOfTheSession(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.enter()
	eighth := 5 * time.Minute / 8
	d.pass(eighth)
	assert.Equal(t, room.Decision{Outcome: room.Admitted, Ticket: in}, d.visit(in))
	d.pass(time.Millisecond)
	got := d.visit(in)
	assert.True(t, got.Issue)
	want := in
	want.LastCheckIn, want.Expires = d.now, d.now.Add(5*time.Minute)
	assert.Equal(t, want, got.Ticket)
	assert.False(t, got.Fresh)
}

func TestSessionLastsFromTheLastRequest(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.enter()
	for range 10 {
		d.pass(5*time.Minute - time.Second)
		assert.Equal(t, room.Queued, d.arrive().Outcome)
		in = d.isIn(in)
	}
	d.pass(5*time.Minute + time.Second)
	assert.NotEqual(t, in.ID, d.enter().ID)
	d.waits(d.visit(in).Ticket)
}

func TestSessionThatIsNotRenewedEndsOneDurationAfterItsAdmission(t *testing.T) {
	s := settings(1, 10)
	s.DisableSessionRenewal = true
	d := open(t, s)
	in := d.enter()
	for range 9 {
		d.pass(30 * time.Second)
		assert.Equal(t, room.Decision{Outcome: room.Admitted, Ticket: in}, d.visit(in))
	}
	d.at(5 * time.Minute)
	got := d.visit(in)
	assert.True(t, got.Fresh, "with nobody waiting, a new session, counted as one")
	assert.Equal(t, d.now, got.Ticket.AcceptedAt)
}

func TestTicketThatHasRunOutPassesWhileItsSessionLasts(t *testing.T) {
	store := memstore.New()
	d := openOn(t, settings(1, 10), store)
	in := d.enter()
	d.pass(30 * time.Second)
	require.False(t, d.visit(in).Issue, "renewed without a new ticket")
	d.at(5*time.Minute + 10*time.Second)
	later, err := room.New(t.Context(), d.now.Time(), room.Config{Name: "shop", Settings: settings(1, 10), Store: store})
	require.NoError(t, err)
	other := &door{TB: t, room: later, now: d.now}
	got := other.visit(in)
	assert.Equal(t, room.Admitted, got.Outcome, "at a gate that has to ask the store")
	assert.False(t, got.Fresh)
	assert.Equal(t, in.AcceptedAt, got.Ticket.AcceptedAt)
	got = d.visit(in)
	assert.Equal(t, room.Admitted, got.Outcome, "at the gate that renewed it")
	assert.True(t, got.Issue)
	assert.Equal(t, 1, d.stand().Active)
}

func TestTicketThatHasRunOutIsIssuedAgainHoweverLongSessionsLastNow(t *testing.T) {
	s := settings(1, 10)
	d := open(t, s)
	in := d.enter()
	s.SessionDuration = time.Hour
	d.configure(s)
	d.pass(time.Second)
	require.False(t, d.visit(in).Issue)
	d.at(5*time.Minute + time.Second)
	got := d.visit(in)
	assert.True(t, got.Issue)
	assert.Equal(t, d.now.Add(time.Hour), got.Ticket.Expires)
}

func TestTouchKeepsASessionActive(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.enter()
	for range 30 {
		d.pass(time.Minute)
		d.room.Touch(d.now.Time(), in)
	}
	d.sync()
	assert.Equal(t, room.Queued, d.arrive().Outcome)
	d.isIn(in)
	d.room.Touch(d.now.Time(), queue.Ticket{State: queue.Waiting, ID: queue.ID{7}})
	assert.Equal(t, 1, d.stand().Active, "only who is in is touched")
}

func TestTouchKeepsTheSlotOfAFixedSessionAndNotTheSession(t *testing.T) {
	s := settings(1, 10)
	s.DisableSessionRenewal = true
	store := memstore.New()
	d, other := openOn(t, s, store), openOn(t, s, store)
	in := d.enter()
	d.at(5*time.Minute - time.Second)
	for range 30 {
		d.room.Touch(d.now.Time(), in)
		d.pass(2 * time.Second)
		other.at(d.now.Sub(start))
		for _, gate := range []*door{d, other} {
			assert.NotEqual(t, in.ID, gate.waits(in).ID, "nor does the store's word of the slot let them in")
			assert.Equal(t, room.Queued, gate.arrive().Outcome)
			assert.Equal(t, 1, gate.stand().Active)
		}
	}
	d.pass(5 * time.Second)
	assert.Zero(t, d.stand().Active, "soon after the answer")
	assert.False(t, d.room.Touch(d.now.Time(), in))
}

func TestRevokedSessionEndsAtOnceAndItsTicketsAreVoid(t *testing.T) {
	s := settings(2, 10)
	s.SessionDuration = time.Minute
	s.QueueAll = true
	d := open(t, s)
	waiting := d.joins(2)
	s.QueueAll = false
	d.configure(s)
	d.pass(interval)
	in := d.isIn(waiting[0])
	d.isIn(waiting[1])
	d.pass(10 * time.Second)
	renewed := d.isIn(in)

	d.room.Revoke(d.now.Time(), renewed)
	d.room.Revoke(d.now.Time(), renewed)
	assert.Equal(t, 1, d.stand().Active)
	for _, old := range []queue.Ticket{waiting[0], in, renewed} {
		got := d.visit(old)
		assert.NotEqual(t, old.ID, got.Ticket.ID)
	}
	d.room.Touch(d.now.Time(), renewed)
	assert.Equal(t, 2, d.stand().Active, "the slot went to the first of them")

	for range 10 {
		d.pass(15 * time.Second)
		d.room.Touch(d.now.Time(), renewed)
		for _, old := range []queue.Ticket{waiting[0], in, renewed} {
			assert.NotEqual(t, old.ID, d.visit(old).Ticket.ID, "at %v", d.now.Sub(start))
		}
	}
}

func TestRevocationReachesOtherGates(t *testing.T) {
	store := memstore.New()
	d, other := openOn(t, settings(2, 10), store), openOn(t, settings(2, 10), store)
	in := d.enter()
	other.isIn(in)
	other.sync()
	d.room.Revoke(d.now.Time(), in)
	d.sync()
	other.sync()
	assert.NotEqual(t, in.ID, other.visit(in).Ticket.ID)
	other.sync()
	d.room.Revoke(d.now.Time(), queue.Ticket{State: queue.Waiting, ID: queue.ID{1}})
	assert.Equal(t, 1, d.stand().Active)
}

func TestLowerLimitsThrowNobodyOutAndLetNobodyIn(t *testing.T) {
	d := open(t, settings(4, 100))
	in := []queue.Ticket{d.enter(), d.enter(), d.enter(), d.enter()}
	d.configure(settings(2, 100))
	for minute := range 10 {
		d.at(time.Duration(minute) * time.Minute)
		for i := range in {
			in[i] = d.isIn(in[i])
		}
		d.sync()
		assert.Equal(t, room.Queued, d.arrive().Outcome)
	}
	in[0] = d.isIn(in[0])
	d.pass(4 * time.Minute)
	d.isIn(in[0])
	d.pass(90 * time.Second)
	assert.Equal(t, 1, d.stand().Active, "three have ended")
	d.enter()
	assert.Equal(t, room.Queued, d.arrive().Outcome)
}

func TestChangedSessionDurationThrowsNobodyOutAndLetsNobodyInTwice(t *testing.T) {
	s := settings(2, 100)
	d := open(t, s)
	first, second := d.enter(), d.enter()
	s.SessionDuration = 10 * time.Second
	d.configure(s)
	d.at(4 * time.Minute)
	assert.Equal(t, room.Queued, d.arrive().Outcome, "slots that were given for longer are kept")
	first = d.isIn(first)
	second = d.isIn(second)
	assert.Equal(t, d.now.Add(10*time.Second), second.Expires, "from its next issue a ticket has the new duration")
	s.SessionDuration = 20 * time.Minute
	d.configure(s)
	first = d.isIn(first)
	d.at(20 * time.Minute)
	assert.Equal(t, room.Admitted, d.visit(first).Outcome)
	assert.Equal(t, 1, d.stand().Active)
}

// The site's backend can renew a session that its visitor's gate takes for ended.
func TestPausedRoomServesThoseWhomTheBackendHasRenewed(t *testing.T) {
	s := settings(5, 10)
	s.SessionDuration = time.Minute
	store := memstore.New()
	d, other := openOn(t, s, store), newRoom(t, s, store)
	in := d.enter()
	d.pass(50 * time.Second)
	require.NoError(t, other.Renew(context.Background(), d.now.Time(), in.ID))
	d.room.Pause(true)
	d.now = d.now.Add(20 * time.Second)
	d.isIn(in)
}

func TestPausedRoomAdmitsNobodyAndServesThoseWhoAreIn(t *testing.T) {
	d := open(t, settings(5, 10))
	in := d.enter()
	d.room.Pause(true)
	waiting := d.join()
	d.pass(interval)
	d.isIn(in)
	d.waits(waiting)
	assert.True(t, d.stand().Paused)
	assert.True(t, d.stand().Queueing())
	d.pass(10 * time.Minute)
	assert.Equal(t, room.Queued, d.visit(in).Outcome, "a session that has ended takes no new slot")
	d.room.Pause(false)
	d.enter()
}

// A request that is held up after it has read the clock comes too late, if a report has gone to the
// store meanwhile.
func TestRequestThatWasHeldUpDoesNotRenewASessionWhoseSlotWasGivenAway(t *testing.T) {
	unrenewed := settings(1, 10)
	unrenewed.DisableSessionRenewal = true
	leased := unrenewed
	leased.ConfirmWithin = time.Minute
	for name, c := range map[string]struct {
		settings queue.Settings
		lasts    time.Duration
	}{"renewed": {settings(1, 10), 5 * time.Minute}, "leased": {leased, time.Minute}} {
		t.Run(name, func(t *testing.T) {
			d := open(t, c.settings)
			in := d.enter()
			d.at(c.lasts - time.Millisecond)
			heldUp := d.now
			d.pass(2 * time.Millisecond)
			d.enter()
			d.now = heldUp
			assert.NotEqual(t, room.Admitted, d.visit(in).Outcome)
			assert.False(t, d.room.Touch(heldUp.Time(), in))
			d.pass(2 * time.Millisecond)
			assert.Equal(t, 1, d.stand().Active)
		})
	}
}

func TestOldTicketThatWasHeldUpDoesNotFindASessionWhoseSlotWasGivenAway(t *testing.T) {
	d := full(t, settings(1, 10))
	waiting := d.join()
	d.at(5*time.Minute + time.Second)
	in := d.isIn(waiting)
	for end := d.now.Add(5 * time.Minute); d.now < end.Add(-time.Second); d.pass(time.Second) {
		continue
	}
	heldUp := d.now
	d.pass(2 * time.Second)
	d.enter()
	d.now = heldUp
	for _, ticket := range []queue.Ticket{waiting, in} {
		assert.NotEqual(t, room.Admitted, d.visit(ticket).Outcome)
	}
}

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

// confirming are settings with sessions of five minutes, which are a newcomer's for one.
func confirming(total int) queue.Settings {
	s := settings(total, 100)
	s.ConfirmWithin = time.Minute
	return s
}

// claiming are settings in which a slot is kept for a minute for a hidden page.
func claiming(total int) queue.Settings {
	s := settings(total, 100)
	s.ClaimWithin = time.Minute
	return s
}

// polls brings a ticket from a page that is hidden.
func (d *door) polls(t queue.Ticket) room.Decision {
	return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: t, Ask: room.Ask{By: room.HiddenPage}})
}

func TestNewcomersSlotIsOpenAgainUnlessTheirTicketComesBack(t *testing.T) {
	d := open(t, confirming(1))
	d.enter()
	d.pass(time.Minute - time.Millisecond)
	assert.Equal(t, 1, d.stand().Active)
	d.pass(time.Millisecond)
	assert.Equal(t, 0, d.stand().Active)
	d.enter()
}

func TestNewcomersSessionIsAWholeOneFromTheFirstRequestWithTheirTicket(t *testing.T) {
	d := open(t, confirming(1))
	in := d.enter()
	assert.True(t, in.Leased)
	d.pass(50 * time.Second)
	got := d.visit(in)
	require.True(t, got.Issue)
	assert.Equal(t, queue.Ticket{State: queue.Accepted, ID: in.ID, LastCheckIn: d.now, AcceptedAt: in.AcceptedAt, Expires: d.now.Add(5 * time.Minute)}, got.Ticket)
	d.pass(5*time.Minute - time.Second)
	d.isIn(got.Ticket)
	d.pass(5*time.Minute - time.Second)
	assert.Equal(t, 1, d.stand().Active)
}

func TestFixedSessionThatIsConfirmedEndsOneDurationAfterItsAdmission(t *testing.T) {
	s := confirming(1)
	s.DisableSessionRenewal = true
	d := open(t, s)
	in := d.enter()
	d.pass(30 * time.Second)
	in = d.isIn(in)
	d.at(5*time.Minute - time.Second)
	d.isIn(in)
	assert.Equal(t, 1, d.stand().Active)
	d.at(5 * time.Minute)
	assert.Equal(t, 0, d.stand().Active)
}

func TestFixedSessionIsConfirmedThoughTheStoreDoesNotAnswer(t *testing.T) {
	s := confirming(1)
	s.DisableSessionRenewal = true
	d, store := openFallible(t, s, queue.Hold)
	store.fail(nil, errLost)
	in := d.join()
	store.fail(nil, nil)
	d.sync() // this node knows that they are in, and until when
	store.fail(errGone, nil)
	d.passUnheard(time.Second)
	in = d.isIn(in)
	store.fail(nil, nil)
	d.at(5*time.Minute - time.Second)
	assert.Equal(t, 1, d.stand().Active)
	d.isIn(in)
	d.at(5*time.Minute + time.Second)
	assert.Zero(t, d.stand().Active)
}

func TestSessionOfSomebodyWhoWaitedOrHasANameIsAWholeOne(t *testing.T) {
	d := open(t, confirming(2))
	waiting := d.crowded(2)
	d.pass(time.Minute)
	in := d.isIn(waiting)
	assert.Equal(t, d.now.Add(5*time.Minute), in.Expires)
	named := d.named(queue.ID{7}, queue.Ticket{}).Ticket
	assert.Equal(t, d.now.Add(5*time.Minute), named.Expires)
}

// crowded fills so many slots with newcomers who do not come again, and returns somebody who waits.
func (d *door) crowded(slots int) queue.Ticket {
	d.Helper()
	for range slots {
		d.enter()
	}
	return d.join()
}

func TestNobodyHasALeaseLongerThanASession(t *testing.T) {
	s := confirming(1)
	s.SessionDuration = 30 * time.Second
	d := open(t, s)
	in := d.enter()
	assert.False(t, in.Leased)
	assert.Equal(t, d.now.Add(30*time.Second), in.Expires)
}

func TestAProvisionalRequestGetsALeaseWhateverItBrings(t *testing.T) {
	d := open(t, settings(1, 100))
	in := d.enter()
	waiting := d.join()
	d.room.Revoke(d.now.Time(), in)
	d.pass(interval)
	got := d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: waiting, Ask: room.Ask{Slot: room.ProvisionalSlot}})
	require.Equal(t, room.Admitted, got.Outcome)
	assert.Equal(t, d.now.Add(time.Minute), got.Ticket.Expires)
	d.pass(30 * time.Second)
	assert.Equal(t, d.now.Add(5*time.Minute), d.isIn(got.Ticket).Expires)
}

func TestAProvisionalRequestMakesNoSessionAWholeOne(t *testing.T) {
	d := open(t, settings(1, 100)) // without ConfirmWithin
	visit := func(ticket queue.Ticket) room.Decision {
		return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: ticket, Ask: room.Ask{Place: room.NoPlace, Slot: room.ProvisionalSlot}})
	}
	got := visit(queue.Ticket{})
	require.Equal(t, room.Admitted, got.Outcome)
	ends := d.now.Add(time.Minute)
	for range 3 {
		assert.Equal(t, ends, got.Ticket.Expires)
		assert.True(t, got.Ticket.Leased)
		d.pass(15 * time.Second)
		got = visit(got.Ticket)
		require.Equal(t, room.Admitted, got.Outcome)
	}
	d.pass(30 * time.Second)
	assert.Equal(t, room.Admitted, visit(queue.Ticket{}).Outcome, "the slot goes on")
}

func TestWhoComesBackLateHasTheSlotIfOneIsOpen(t *testing.T) {
	d := open(t, confirming(1))
	in := d.enter()
	d.pass(2 * time.Minute)
	got := d.visit(in)
	assert.Equal(t, room.Admitted, got.Outcome)
	assert.True(t, got.Fresh)
	assert.Equal(t, in.ID, got.Ticket.ID)
	assert.False(t, got.Ticket.Leased, "their ticket has come back")
	assert.Equal(t, d.now.Add(5*time.Minute), got.Ticket.Expires)
}

// misses has a visitor wait, and not look at the slot that is kept for them until it goes on. It
// returns their ticket from before the slot, and the one with it.
func (d *door) misses() (waiting, late queue.Ticket) {
	d.Helper()
	in := d.enter()
	waiting = d.join()
	d.room.Revoke(d.now.Time(), in)
	d.pass(interval)
	got := d.polls(waiting)
	require.Equal(d, room.Kept, got.Outcome)
	d.pass(time.Minute + time.Second)
	return waiting, got.Ticket
}

func TestANewcomerWhoComesBackLateIsANewcomer(t *testing.T) {
	inEitherOrder(t, func(t *testing.T, s queue.Settings) {
		s.ConfirmWithin, s.Bucket = time.Minute, time.Second
		d := open(t, s)
		late := d.enter()
		d.pass(time.Minute + time.Second)
		d.isIn(d.enter())
		other := d.join()
		d.pass(10 * time.Second)
		unproven := d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: late, Ask: room.Ask{Place: room.OwnPlace}})
		assert.Equal(t, room.Busy, unproven.Outcome, "they pass no challenge")
		back := d.waits(late)
		assert.Greater(t, back.ArrivedAt, other.ArrivedAt)
		assert.GreaterOrEqual(t, back.Number, other.Number)
	})
}

func TestWhoWaitedAndComesBackLateIsAheadOfAllWhoCameAfterThem(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			s := claiming(1)
			s.Method, s.Bucket = method, time.Second
			d := open(t, s)
			waiting, late := d.misses()
			in := d.enter()
			other := d.join()
			d.pass(10 * time.Second)
			back := d.waits(late)
			assert.Equal(t, waiting.ID, back.ID)
			assert.Equal(t, waiting.ArrivedAt, back.ArrivedAt)
			d.pass(10 * time.Second)
			other = d.waits(other)
			d.pass(10 * time.Second)
			back = d.waits(back)
			d.room.Revoke(d.now.Time(), in)
			d.pass(10 * time.Second)
			d.waits(other)
			d.pass(10 * time.Second)
			entered := d.isIn(back)
			assert.Equal(t, d.now.Add(5*time.Minute), entered.Expires)
		})
	}
}

func TestNobodyGoesBackTwice(t *testing.T) {
	d := open(t, confirming(1))
	late := d.enter()
	d.pass(time.Minute + time.Second)
	first := d.isIn(late)
	d.room.Revoke(d.now.Time(), first)
	d.pass(time.Second)
	next := d.visit(late)
	assert.NotEqual(t, late.ID, next.Ticket.ID, "the session was ended by somebody")
	d = open(t, claiming(1))
	_, late = d.misses()
	in := d.enter()
	back := d.waits(late)
	d.room.Revoke(d.now.Time(), in)
	d.pass(interval)
	d.isIn(back)
	assert.Equal(t, back.ID, d.isIn(late).ID, "all their tickets find one slot")
	assert.Equal(t, 1, d.stand().Active)
	d.pass(5*time.Minute + time.Second)
	assert.NotEqual(t, late.ID, d.enter().ID)
	d.pass(interval)
	assert.NotEqual(t, late.ID, d.waits(late).ID, "too late: their session would be over")
	assert.NotEqual(t, late.ID, d.waits(back).ID, "its place was used")
}

func TestWhoConfirmedAtOneNodeIsInAtAnother(t *testing.T) {
	store := memstore.NewShared(2 * time.Second)
	d, other := openOn(t, confirming(1), store), openOn(t, confirming(1), store)
	in := d.enter()
	both := func(by time.Duration) {
		d.pass(by)
		other.pass(by)
	}
	both(59 * time.Second)
	other.isIn(in)
	both(3 * time.Second)
	got := d.visit(in)
	assert.Equal(t, room.Admitted, got.Outcome, "the ticket from before it was confirmed")
	assert.False(t, got.Fresh)
	assert.Equal(t, 1, d.stand().Active)
}

func TestWhoGoesBackAtAnotherNodeKeepsTheirPlace(t *testing.T) {
	s := claiming(1)
	s.Bucket = time.Second
	store := memstore.New()
	d, other := openOn(t, s, store), openOn(t, s, store)
	_, late := d.misses()
	other.at(d.now.Sub(start))
	in := d.enter()
	behind := d.join()
	both := func(by time.Duration) {
		d.pass(by)
		other.pass(by)
	}
	both(10 * time.Second)
	back := other.waits(late)
	d.room.Revoke(d.now.Time(), in)
	both(5 * time.Second)
	both(5 * time.Second)
	d.waits(behind)
	both(10 * time.Second)
	other.isIn(back)
}

func TestWhoIsLetInWhileTheirPageIsHiddenHasTheSlotKept(t *testing.T) {
	d := open(t, claiming(1))
	in := d.enter()
	waiting := d.join()
	d.room.Revoke(d.now.Time(), in)
	d.pass(time.Minute)
	got := d.polls(waiting)
	require.Equal(t, room.Kept, got.Outcome)
	assert.True(t, got.Issue && got.Fresh)
	until := d.now.Add(time.Minute)
	assert.Equal(t, until, got.Ticket.Expires)
	d.pass(interval)
	again := d.polls(got.Ticket)
	assert.Equal(t, room.Decision{Outcome: room.Kept, Ticket: got.Ticket}, again, "it goes on being kept, and for no longer")
	assert.Equal(t, 1, d.stand().Active)
	d.pass(interval)
	looked := d.isIn(got.Ticket)
	assert.Equal(t, d.now.Add(5*time.Minute), looked.Expires, "the session begins when they look")
}

func TestWhoDoesNotLookHasOneMoreTurn(t *testing.T) {
	s := claiming(1)
	s.Bucket = time.Second
	d := open(t, s)
	in := d.enter()
	waiting := d.join()
	d.pass(2 * time.Second)
	next := d.join()
	d.room.Revoke(d.now.Time(), in)
	d.pass(time.Minute)
	kept := d.polls(waiting).Ticket
	d.pass(time.Minute + time.Second)
	second := d.polls(kept)
	require.Equal(t, room.Kept, second.Outcome)
	assert.True(t, second.Fresh)
	d.waits(next)
	d.pass(time.Minute + time.Second)
	d.isIn(next)
	third := d.polls(second.Ticket)
	assert.Equal(t, room.Queued, third.Outcome)
	assert.Greater(t, third.Ticket.ArrivedAt, next.ArrivedAt, "then they are at the end of the line")
}

func TestHiddenPageIsLetInAsEverWithoutClaimWithin(t *testing.T) {
	d := open(t, settings(1, 100))
	got := d.polls(queue.Ticket{})
	assert.Equal(t, room.Admitted, got.Outcome)
	assert.Equal(t, d.now.Add(5*time.Minute), got.Ticket.Expires)
}

func TestPeekTellsOfThePlaceThatSomebodyGoesBackTo(t *testing.T) {
	d := open(t, claiming(1))
	_, late := d.misses()
	peek := func() queue.Ticket {
		ticket, _ := d.room.Peek(context.Background(), d.now.Time(), room.Request{Ticket: late})
		return ticket
	}
	d.enter()
	assert.Equal(t, queue.Waiting, peek().State)
	d.pass(4 * time.Minute)
	assert.Equal(t, queue.None, peek().State)
}

func TestRestartHoldsASlotThatMayHaveBeenConfirmed(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		dir := t.TempDir()
		store, err := memstore.Open(dir)
		require.NoError(t, err)
		s := confirming(1)
		s.DisableSessionRenewal = fixed
		d := openOn(t, s, store)
		in := d.isIn(d.enter())
		d.pass(10 * time.Second)
		require.NoError(t, store.Close())
		store, err = memstore.Open(dir)
		require.NoError(t, err)
		again := openOn(t, s, store)
		again.now = d.now.Add(2 * time.Minute)
		assert.Equal(t, room.Queued, again.arrive().Outcome, "fixed: %v", fixed)
		again.isIn(in)
		require.NoError(t, store.Close())
	}
}

package room_test

import (
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// oracle judges a room by what can be seen from outside, as the log of an origin
// tells it: which ids were let through, when, and what tickets they brought. It
// knows the settings and the clock, and nothing of the room or the store.
type oracle struct {
	*rapid.T
	s      queue.Settings
	paused bool

	holds   map[queue.ID]queue.Instant // until when a request that was let through keeps its visitor active
	placed  map[queue.ID]bool          // ids whose place in line was used
	beyond  map[queue.ID]bool          // those of them who were let in uncounted, of whom the store keeps nothing
	revoked map[queue.ID]bool
	back    map[queue.ID]bool // ids that have entered after they went back to their place

	minute   queue.Instant
	admitted int // in that minute

	// present are those who checked in and whose next check-in is not past, by
	// id; a room may count people for longer, never for less.
	present map[queue.ID]presence
	unclear queue.Instant // until then the room may count somebody twice

	// goodbyes are until when those who said goodbye might still be counted by the check-in before
	// it. A restart forgets who said it: who comes back before then is counted out once more.
	goodbyes  map[queue.ID]queue.Instant
	forgotten map[queue.ID]queue.Instant
}

type presence struct {
	bucket queue.Instant
	until  queue.Instant // sure to be counted
	latest queue.Instant // sure to be counted no more
}

func newOracle(t *rapid.T, s queue.Settings) *oracle {
	return &oracle{T: t, s: s, holds: map[queue.ID]queue.Instant{}, placed: map[queue.ID]bool{}, beyond: map[queue.ID]bool{},
		revoked: map[queue.ID]bool{}, back: map[queue.ID]bool{}, present: map[queue.ID]presence{},
		goodbyes: map[queue.ID]queue.Instant{}, forgotten: map[queue.ID]queue.Instant{}}
}

// restarted takes down that only what the store keeps is known.
func (o *oracle) restarted() {
	maps.DeleteFunc(o.placed, func(id queue.ID, _ bool) bool { return o.beyond[id] })
	maps.Copy(o.forgotten, o.goodbyes)
}

// active counts those whose last request is less than a session ago.
func (o *oracle) active(now queue.Instant) int {
	n := 0
	for _, until := range o.holds {
		if until > now {
			n++
		}
	}
	return n
}

// ahead counts those present before a bucket.
func (o *oracle) ahead(now, bucket queue.Instant) int {
	n := 0
	for id, p := range o.present {
		if p.until > now && p.bucket < bucket && o.forgotten[id] <= now {
			n++
		}
	}
	return n
}

// saw judges the decision about a request and takes it down.
func (o *oracle) saw(now queue.Instant, q room.Request, d room.Decision) {
	brought := q.Ticket
	if m := now.Floor(time.Minute); m != o.minute {
		o.minute, o.admitted = m, 0
	}
	valid := brought.State == queue.Accepted && brought.Expires > now && !o.revoked[brought.ID]
	in := d.Outcome == room.Admitted
	if q.Ask.By == room.HiddenPage && o.s.ClaimWithin > 0 && q.Ask.Place != room.NoPlace {
		require.False(o, in, "the slot of a hidden page is only kept")
		in = d.Outcome == room.Kept
	}
	if valid {
		require.True(o, in, "an accepted, unexpired ticket passes")
		require.Equal(o, brought.ID, d.Ticket.ID)
	}
	if in {
		require.Equal(o, queue.Accepted, d.Ticket.State)
		require.Greater(o, d.Ticket.Expires, now)
		require.False(o, o.revoked[d.Ticket.ID], "a revoked session's tickets are void")
		o.letIn(now, brought, d)
		return
	}
	switch d.Outcome {
	case room.Queued:
		o.waits(now, q, d)
	case room.Rejected:
		o.left(brought.ID)
	default:
	}
}

// letIn judges and takes down a request that was let through.
func (o *oracle) letIn(now queue.Instant, brought queue.Ticket, d room.Decision) {
	id := d.Ticket.ID
	if d.Fresh {
		o.mayEnter(now, brought, d)
	}
	delete(o.present, id)
	if d.Ticket.Uncounted {
		return
	}
	switch {
	case d.Ticket.Leased || o.s.DisableSessionRenewal && !d.Fresh:
		o.holds[id] = max(o.holds[id], d.Ticket.Expires)
	case d.Outcome == room.Admitted:
		o.holds[id] = max(o.holds[id], now.Add(o.s.SessionDuration))
	}
	if d.Fresh {
		o.admitted++
		o.limitsHold(now)
	}
}

// mayEnter judges an admission before it is taken down.
func (o *oracle) mayEnter(now queue.Instant, brought queue.Ticket, d room.Decision) {
	id := d.Ticket.ID
	goesBack := o.goesBack(now, brought, id)
	require.False(o, o.s.QueueAll || o.s.Method == queue.Reject || o.paused, "nobody new enters")
	require.LessOrEqual(o, o.holds[id], now, "one id, one slot")
	switch {
	case goesBack:
		require.False(o, o.back[id], "nobody goes back twice")
		o.back[id] = !d.Ticket.Uncounted // of one who is not counted the store keeps nothing
	case brought.State == queue.Waiting && id == brought.ID:
		require.False(o, o.placed[id], "a place is used once")
		o.placed[id] = true
		o.beyond[id] = d.Ticket.Uncounted
	}
	if o.s.Method == queue.Passthrough {
		return
	}
	open := min(o.s.TotalActiveUsers-o.active(now), o.s.NewUsersPerMinute-o.admitted)
	switch {
	case !goesBack && (brought.State != queue.Waiting || id != brought.ID):
		require.Greater(o, open, o.ahead(now, 1<<62), "a newcomer has everyone present ahead")
	case o.s.Method == queue.FIFO:
		require.Greater(o, open, o.ahead(now, brought.ArrivedAt.Floor(o.s.Bucket)), "a slot is kept for each who is present in an earlier bucket")
	}
}

// goesBack reports whether a visitor enters who has a right to their place again, because
// their slot was given for a lease, and nobody came.
func (o *oracle) goesBack(now queue.Instant, brought queue.Ticket, id queue.ID) bool {
	if brought.State == queue.Waiting {
		return brought.AcceptedAt != 0 && id == brought.ID
	}
	return brought.Leased && brought.ArrivedAt != 0 && id == brought.ID && now < brought.AcceptedAt.Add(o.s.SessionDuration)
}

// limitsHold judges after each admission, for limits are lowered without
// throwing anyone out.
func (o *oracle) limitsHold(now queue.Instant) {
	if o.s.Method == queue.Passthrough {
		return
	}
	require.LessOrEqual(o, o.active(now), o.s.TotalActiveUsers, "distinct active ids")
	require.LessOrEqual(o, o.admitted, o.s.NewUsersPerMinute, "admissions in the calendar minute")
}

// waits judges and takes down that someone is in line.
func (o *oracle) waits(now queue.Instant, q room.Request, d room.Decision) {
	t := d.Ticket
	require.Equal(o, queue.Waiting, t.State)
	require.Greater(o, t.Due(), now)
	if known, ok := o.present[t.ID]; ok && !d.Issue {
		known.latest = max(known.latest, now.Add(2*time.Minute)) // back after a goodbye
		o.present[t.ID] = known
		return
	}
	if !d.Issue || t.LastCheckIn != now {
		return
	}
	p := o.present[t.ID]
	p.bucket = t.ArrivedAt.Floor(o.s.Bucket)
	p.until = now.Add(queue.WholeSeconds(t.RefreshInterval))
	if p.latest > now && q.Ticket.ID == t.ID && q.Ticket.Due() > now {
		p.until = now // an old ticket of someone counted already, maybe
	}
	p.latest = max(p.latest, p.until.Add(10*time.Second))
	if q.Ask.By == room.HiddenPage {
		p.latest = max(p.latest, now.Add(75*time.Second))
	}
	o.present[t.ID] = p
}

// saidGoodbye takes down a goodbye, said with a ticket.
func (o *oracle) saidGoodbye(t queue.Ticket) {
	o.left(t.ID)
	o.goodbyes[t.ID] = t.CountedUntil
}

// left takes down that somebody is gone.
func (o *oracle) left(id queue.ID) {
	if p, ok := o.present[id]; ok {
		p.until = 0
		o.present[id] = p
	}
}

// told judges the numbers that visitors are told.
func (o *oracle) told(now queue.Instant, n *estimate.Numbers) {
	sure, possible := 0, 0
	maps.DeleteFunc(o.present, func(_ queue.ID, p presence) bool { return p.latest <= now && p.until <= now })
	for id, p := range o.present {
		possible++
		if p.until > now && o.forgotten[id] <= now {
			sure++
		}
	}
	require.GreaterOrEqual(o, n.Waiting, sure, "who is present is counted")
	if now >= o.unclear {
		require.LessOrEqual(o, n.Waiting, possible, "nobody is counted twice")
	}
	require.GreaterOrEqual(o, n.Active, o.active(now), "who is active holds a slot")
	require.True(o, slices.IsSortedFunc(n.Buckets, func(a, b queue.Reserved) int { return int(a.Bucket - b.Bucket) }))
	if o.s.QueueAll || o.paused || o.s.Method == queue.Reject {
		require.False(o, n.LongestWait().Known, "nothing is known of a wait that does not end")
	}
}

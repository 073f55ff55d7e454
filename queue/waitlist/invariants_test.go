package waitlist_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// none asserts that a query of the record finds nothing.
func (w *world) none(t assert.TestingT, what, query string, args ...any) {
	var n int
	if assert.NoError(t, w.scan(`SELECT COUNT(*) FROM (`+query+`) AS found`, args, &n), what) {
		assert.Zero(t, n, what)
	}
}

// holds asserts what has to hold of the record after every commit.
func (w *world) holds(t assert.TestingT, capacity int) {
	w.none(t, "W1: invited and accepted are no more than the capacity",
		`SELECT 1 FROM (SELECT COUNT(*) AS n FROM spots WHERE state IN ('live', 'accepted')) AS held WHERE n > $1`, capacity)
	w.none(t, "the count of spots that are held is right",
		`SELECT 1 FROM waitlists w WHERE held <> (SELECT COUNT(*) FROM spots WHERE state IN ('live', 'accepted'))`)
	w.none(t, "W2: a spot is either accepted, or expired and then has one in its place or is owed",
		`SELECT 1 FROM spots s WHERE state = 'expired' AND (accepted_at <> 0 OR owed + (SELECT COUNT(*) FROM spots n WHERE n.replaces = s.id) <> 1)`)
	w.none(t, "W2: nothing takes the place of a spot that is held",
		`SELECT 1 FROM spots s JOIN spots n ON n.replaces = s.id WHERE s.state IN ('live', 'accepted')`)
	w.none(t, "W3: a spot that is owed is released while there is room and somebody who waits",
		`SELECT 1 FROM spots s, waitlists w WHERE s.owed = 1 AND w.held < $1 AND w.paused = 0 AND EXISTS (SELECT 1 FROM entries WHERE status = 'waiting')`, capacity)
	w.none(t, "entries and spots agree", `SELECT 1 FROM entries e LEFT JOIN spots s ON s.waitlist = e.waitlist AND s.id = e.spot
		WHERE e.status = 'invited' AND COALESCE(s.state, '') <> 'live' OR e.status = 'accepted' AND COALESCE(s.state, '') <> 'accepted'
		OR e.status IN ('waiting', 'unconfirmed', 'removed', 'expired') AND COALESCE(s.state, '') IN ('live', 'accepted')`)
	w.none(t, "W5: one entry for each address", `SELECT 1 FROM entries WHERE email_key IS NOT NULL GROUP BY email_key HAVING COUNT(*) > 1`)
	w.none(t, "W7: nobody is their own referrer", `SELECT 1 FROM credits WHERE referee = referrer`)
	w.none(t, "W7: referrals earn what they may", `SELECT 1 FROM entries e WHERE boost <>
		(SELECT CASE WHEN COUNT(*) > 10 THEN 50 ELSE 5 * COUNT(*) END FROM credits c WHERE c.referrer = e.number AND c.state = 'granted')`)
	w.none(t, "W7: only who is confirmed earns anything", `SELECT 1 FROM credits c JOIN entries e ON e.number = c.referee
		WHERE c.state <> 'withdrawn' AND e.status IN ('unconfirmed', 'removed')`)
	w.none(t, "W9: a live invite of somebody with an address was sent, or is in the outbox", `SELECT 1 FROM spots s JOIN entries e ON e.number = s.number
		WHERE s.state = 'live' AND s.mailed_at = 0 AND e.email IS NOT NULL AND (SELECT COUNT(*) FROM outbox o WHERE o.spot = s.id) <> 1`)
	w.none(t, "W10: events are counted without gaps", `SELECT 1 FROM waitlists WHERE last_event <> (SELECT COALESCE(MAX(id), last_event) FROM events)
		OR (SELECT COUNT(*) FROM events) <> (SELECT COALESCE(MAX(id) - MIN(id) + 1, 0) FROM events)`)
	w.none(t, "W10: the last event of an entry says its status", `SELECT 1 FROM events v JOIN entries e ON e.number = v.number
		JOIN (SELECT number, MAX(id) AS id FROM events WHERE kind <> 'moved_up' GROUP BY number) AS last ON last.id = v.id
		WHERE e.status <> CASE v.kind WHEN 'joined' THEN CASE e.status WHEN 'unconfirmed' THEN e.status ELSE 'waiting' END
			WHEN 'confirmed' THEN 'waiting' WHEN 'put_back' THEN 'waiting' WHEN 'left' THEN 'removed' ELSE v.kind END`)
}

// ranksAreRight asserts that a node's ranks are those of the record, and that it knows who has
// accepted.
func (w *world) ranksAreRight(t require.TestingT, l *waitlist.List) {
	rows, err := w.raw.QueryContext(ctx, `SELECT number, status, joined_at FROM entries WHERE status <> 'removed' ORDER BY priority DESC, number`)
	require.NoError(t, err)
	defer rows.Close()
	want := map[int64]int{}
	waiting := 0
	for rows.Next() {
		var number, joined int64
		var status waitlist.Status
		require.NoError(t, rows.Scan(&number, &status, &joined))
		require.Equal(t, status == waitlist.Accepted, has(l.Guest(number, time.UnixMilli(joined))), "whether %d has accepted", number)
		if want[number] = 0; status == waitlist.Waiting {
			waiting++
			want[number] = waiting
		}
	}
	for number, rank := range want {
		got, total := l.Rank(number)
		require.Equal(t, rank, got, "the rank of %d", number)
		require.Equal(t, waiting, total)
	}
}

// crowd drives two nodes that have one list.
type crowd struct {
	*world
	nodes    []*waitlist.List
	capacity int
}

func (c *crowd) node(t *rapid.T) *waitlist.List { return rapid.SampledFrom(c.nodes).Draw(t, "node") }

// addresses are few, so that people meet again, and some are alike.
var addresses = []string{"a@x.org", "A@x.org", "a+1@x.org", "b@x.org", "c@y.org", "d@y.org", "e@z.org", "f@z.org", "g@z.org", "h@z.org", "i@z.org", "j@z.org", "k@z.org", "l@z.org"}

// ofThose are the numbers of the entries with a status; none if there are none.
func (c *crowd) ofThose(status waitlist.Status) []int64 {
	numbers := []int64{}
	page, err := c.Entries(ctx, waitlist.Search{Status: status, Most: 1000})
	require.NoError(c.t, err)
	for _, e := range page.Entries {
		numbers = append(numbers, e.Number)
	}
	return numbers
}

// one draws an entry with a status.
func (c *crowd) one(t *rapid.T, status waitlist.Status) int64 {
	numbers := c.ofThose(status)
	if len(numbers) == 0 {
		return 0
	}
	return rapid.SampledFrom(numbers).Draw(t, string(status))
}

// fine fails unless the error is nil or one of those that are refusals.
func fine(t require.TestingT, err error, refusals ...error) {
	for _, r := range refusals {
		if errors.Is(err, r) {
			return
		}
	}
	require.NoError(t, err)
}

func (c *crowd) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": func(t *rapid.T) {
			c.holds(t, c.capacity)
			for _, l := range c.nodes {
				require.NoError(t, l.Follow(ctx))
				c.ranksAreRight(t, l)
			}
		},
		"join": func(t *rapid.T) {
			who := waitlist.SignUp{Email: rapid.SampledFrom(addresses).Draw(t, "address")}
			if friend := c.one(t, waitlist.Waiting); friend != 0 {
				who.Referral = c.entry(friend).ReferralCode
			}
			_, err := c.node(t).Join(ctx, who, c.now)
			fine(t, err)
		},
		"confirm": func(t *rapid.T) {
			mails, err := c.Outbox(ctx, 0, 1000)
			fine(t, err)
			mails = slices.DeleteFunc(mails, func(m waitlist.Mail) bool { return m.Kind != waitlist.MailConfirm })
			if len(mails) > 0 {
				_, err := c.node(t).Confirm(ctx, rapid.SampledFrom(mails).Draw(t, "mail").Token, nil, c.now)
				fine(t, err, waitlist.ErrUsed, waitlist.ErrExpired)
			}
		},
		"release": func(t *rapid.T) { c.releaseInOrder(t, rapid.IntRange(0, 5).Draw(t, "n")) },
		"accept": func(t *rapid.T) {
			if n := c.one(t, waitlist.Invited); n != 0 {
				_, err := c.node(t).AcceptOwn(ctx, n, c.now)
				fine(t, err, waitlist.ErrExpired)
			}
		},
		"leave": func(t *rapid.T) {
			status := rapid.SampledFrom([]waitlist.Status{waitlist.Waiting, waitlist.Invited, waitlist.Accepted, waitlist.Expired}).Draw(t, "status")
			if n := c.one(t, status); n != 0 {
				fine(t, c.node(t).Leave(ctx, n, c.now))
			}
		},
		"move": func(t *rapid.T) {
			all := []waitlist.Status{waitlist.Unconfirmed, waitlist.Waiting, waitlist.Invited, waitlist.Accepted, waitlist.Expired, waitlist.Removed}
			if n := c.one(t, rapid.SampledFrom(all).Draw(t, "from")); n != 0 {
				err := c.node(t).SetStatus(ctx, n, rapid.SampledFrom(all).Draw(t, "to"), operator, c.now)
				fine(t, err, waitlist.ErrFull, waitlist.ErrStatus, waitlist.ErrNotFound)
			}
		},
		"prefer": func(t *rapid.T) {
			if n := c.one(t, waitlist.Waiting); n != 0 {
				fine(t, c.node(t).SetPriority(ctx, n, rapid.IntRange(-20, 20).Draw(t, "priority"), operator, c.now))
			}
		},
		"time":  func(*rapid.T) { c.after(13 * time.Hour) },
		"sweep": func(t *rapid.T) { _, err := c.node(t).Sweep(ctx, c.now); fine(t, err) },
		"visit": func(t *rapid.T) {
			if n := c.one(t, waitlist.Invited); n != 0 {
				_, err := c.node(t).Entry(ctx, n, c.now)
				fine(t, err)
			}
		},
		"send": func(t *rapid.T) {
			mails, err := c.node(t).Lease(ctx, 3, time.Minute, c.now)
			fine(t, err)
			for _, m := range mails {
				fine(t, c.node(t).Sent(ctx, m, c.now))
			}
		},
	}
}

// gather brings some people with priorities of their own.
func (c *crowd) gather(t *rapid.T) {
	for i, priority := range rapid.SliceOfN(rapid.IntRange(-3, 3), 5, 9).Draw(t, "priorities") {
		number := c.enter(waitlist.SignUp{Email: email(i)}).Number
		fine(t, c.SetPriority(ctx, number, priority, operator, c.now))
	}
}

// releaseInOrder releases and asserts invariant W6: those who are invited are the first of those
// who waited.
func (c *crowd) releaseInOrder(t *rapid.T, n int) {
	fine(t, func() error { _, err := c.Sweep(ctx, c.now); return err }())
	before := c.ofThose(waitlist.Waiting)
	released, err := c.node(t).Release(ctx, n, operator, c.now)
	fine(t, err)
	require.Equal(t, before[released:], c.ofThose(waitlist.Waiting), "W6: a prefix of the order is invited")
}

// Invariants W1 to W3, W5 to W7, W9 and W10 hold after every commit, whatever happens on which
// node.
func TestTheInvariantsHoldWhateverHappens(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		limits := settings(capacity(4))
		w := newWorld(t, name, limits)
		other := w.node(limits)
		rapid.Check(t, func(rt *rapid.T) {
			w.empty(other)
			c := &crowd{w, []*waitlist.List{w.List, other}, limits.Capacity}
			c.gather(rt)
			rt.Repeat(c.actions())
		})
	})
}

// empty has everybody leave, so that no spot is held and nobody is in line, and takes away what
// stays of them: the next run begins anew.
func (w *world) empty(other *waitlist.List) {
	w.after(1000 * time.Hour)
	w.sweep()
	page, err := w.Entries(ctx, waitlist.Search{Most: 1000})
	require.NoError(w.t, err)
	for _, e := range page.Entries {
		require.NoError(w.t, w.Leave(ctx, e.Number, w.now))
	}
	require.NoError(w.t, other.Follow(ctx))
	for _, table := range []string{"outbox", "tokens", "credits", "spots", "audit", "entries"} {
		_, err := w.raw.ExecContext(ctx, `DELETE FROM `+table)
		require.NoError(w.t, err)
	}
}

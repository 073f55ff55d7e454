// Package recordtest has a day of a room as its gate would have recorded it, for tests of
// what is made of records.
package recordtest

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// Day is the day that a sale begins at 18:00 UTC, as an event with a prequeue from 17:50 on;
// operators hold everyone new from 18:20 to 18:26, and from 19:50 until the event ends at 20:00
// everything is sold out. People wait until shortly before 20:00. From 18:40 to 18:48 the gate is
// not there, and from 19:10 on the store does not answer for three minutes. At 19:00 an operator
// raises the limits. Standing places cost 49 €, and 59 € from 19:00 on; what a seat costs is not told.
var Day = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// Sale is the record of the Day, up to 22:30.
func Sale() record.Excerpt {
	var e record.Excerpt
	for n := range 22*60 + 30 {
		at := Day.Add(time.Duration(n) * time.Minute)
		if away(n) {
			continue
		}
		e.Minutes = append(e.Minutes, minute(at, n))
	}
	change := func(hour, minute, second int, by, what, from, to string) {
		at := Day.Add(time.Duration(hour*3600+minute*60+second) * time.Second)
		e.Changes = append(e.Changes, record.Change{At: at, By: by, What: what, From: from, To: to})
	}
	change(9, 12, 40, "file", "message", "", "The sale begins at 18:00 <UTC>.")
	change(19, 0, 5, "10.0.0.7", "total_active_users", "500", "600")
	change(19, 0, 5, "10.0.0.7", "new_users_per_minute", "100", "120")
	change(19, 31, 0, "10.0.0.7", "visitor removed", "", "00112233445566778899aabbccddeeff")
	return e
}

const (
	begins = 18 * 60 // the sale
	raised = 19 * 60 // the limits are
	over   = 119     // minutes after the begin, nobody waits any more
)

// away says whether the gate was not there in a minute of the day.
func away(n int) bool { return n >= begins+40 && n < begins+48 }

// minute is the n-th of the day.
func minute(at time.Time, n int) record.Minute {
	m := record.Minute{At: at, Seconds: 60, Room: &record.Standing{TotalActiveUsers: 500, NewUsersPerMinute: 100}}
	s := m.Room
	if n >= raised {
		s.TotalActiveUsers, s.NewUsersPerMinute = 600, 120
	}
	calm := int(20 + 18*math.Sin(float64(n)/170) + float64(n*7%5))
	s.Active, s.ActiveMost, s.Open, s.Admitted, m.LetIn = calm, calm+2, s.TotalActiveUsers-calm, calm/6, calm/6
	m.GaveUp = new(0)
	if n >= begins-10 && n < begins+120 {
		s.Event, s.Prequeue = "winter-sale", n < begins
	}
	s.Held, s.SoldOut = n >= begins+20 && n < begins+26, n >= begins+110 && n < begins+120
	if past := n - begins; past >= 0 && past < 120 {
		s.Items = []record.Offer{{At: at, Items: offered(past)}}
	}
	if past := n - begins; past >= 0 && past < over {
		busy(&m, past)
	}
	if n >= begins+70 && n < begins+73 {
		m.Room, m.Own = nil, record.Own{StoreFailingSeconds: 60, StoreErrors: 58, WithoutStore: 4}
	}
	return m
}

// offered is what there is to buy, so many minutes after the begin of the sale.
func offered(past int) json.RawMessage {
	price, left := 49, max(0, 20*(110-past))
	if past >= 60 {
		price = 59
	}
	return fmt.Appendf(nil, `[{"name":"Standing <A>","price":"%d €","left":%d,"soldOut":%t},{"name":"Seat","left":null,"soldOut":false}]`, price, left, left == 0)
}

// busy is a minute in which people wait, so many minutes after the begin of the sale.
func busy(m *record.Minute, past int) {
	s := m.Room
	s.Queued = int(9000 * float64(past+1) / 12)
	if past > 11 {
		s.Queued = int(9000 * float64(over-past) / (over - 11))
	}
	s.QueuedMost, s.TellsMinutes = s.Queued+12, s.Queued/s.NewUsersPerMinute+1
	s.Active = min(s.TotalActiveUsers, 60*(past+1))
	s.ActiveMost, s.Open, s.Admitted = s.Active, 0, s.NewUsersPerMinute-past%2
	s.QueueingSeconds, s.UsedSeconds, s.IdleSeconds = 60, 60*float64(s.Active), 60*float64(past%4)
	m.LetIn, m.GaveUp = s.Admitted, new(past%5)
	m.Refused = record.Refused{Busy: past % 3, Withheld: past % 7, BadTokens: past / 50}
	var waited, told waits.Counter
	for i := range s.Admitted {
		waited.Add(time.Duration(past*40+i*past/10) * time.Second)
		told.Add(time.Duration(past) * time.Minute)
	}
	m.Waits, m.Told = waited.Since(&waits.Counter{}), told.Since(&waits.Counter{})
	m.Score = record.Score{Visitors: s.Admitted, InTime: s.Admitted * 9 / 10, Near: s.Admitted * 7 / 10, ToldMinutes: s.Admitted * past, WaitedMinutes: s.Admitted * (past*45 + 30) / 60}
}

package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/report"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// arrivalLog is what the origin and the visitors know of a day.
type arrivalLog struct {
	arrived map[string]time.Time // when each visitor sent their first request
	seen    map[string]time.Time // when the origin first saw each
}

// judged is what the origin's log says of a day.
type judged struct {
	waits      []time.Duration // of those who waited, the shortest first
	perMinute  map[time.Time]int
	mostActive int
}

// judge reads the log: a visitor is active for a session after the request that the origin saw.
func (l *arrivalLog) judge(session time.Duration) judged {
	j := judged{perMinute: map[time.Time]int{}}
	for name, seen := range l.seen {
		if wait := seen.Sub(l.arrived[name]); wait > 0 {
			j.waits = append(j.waits, wait)
		}
		j.perMinute[seen.Truncate(time.Minute)]++
		active := 0
		for _, other := range l.seen {
			if !other.After(seen) && other.Add(session).After(seen) {
				active++
			}
		}
		j.mostActive = max(j.mostActive, active)
	}
	slices.Sort(j.waits)
	return j
}

func (j *judged) percentile(share float64) float64 {
	return j.waits[max(0, int(share*float64(len(j.waits))+.999999)-1)].Seconds()
}

const stepOfTheDay = 5 * time.Second

// excerpt is the record of the room called shop.
func (f *fixture) excerpt(from, to time.Time) (e record.Excerpt) {
	f.t.Helper()
	query := "?from=" + from.UTC().Format(time.RFC3339) + "&to=" + to.UTC().Format(time.RFC3339)
	a := f.api(http.MethodGet, "/api/v1/rooms/shop/record"+query, "", &e)
	require.Equal(f.t, http.StatusOK, a.status, a.body)
	return e
}

// crowdOfADay sends a crowd to a gate for some hours in virtual time, and returns what the origin
// saw. each is called at every step.
func (f *fixture) crowdOfADay(lasts time.Duration, arrivals []time.Duration, each func(past time.Duration)) *arrivalLog {
	l := &arrivalLog{arrived: map[string]time.Time{}, seen: map[string]time.Time{}}
	f.site.will(func(w http.ResponseWriter, r *http.Request) {
		if name := r.Header.Get("X-Visitor"); l.seen[name].IsZero() {
			l.seen[name] = f.clock.Now()
		}
		_, _ = fmt.Fprint(w, "in")
	})
	type waiter struct {
		*visitor
		name string
		due  time.Time
	}
	var line []*waiter
	begin := f.clock.Now()
	for past := time.Duration(0); past < lasts; past += stepOfTheDay {
		for n := len(l.arrived); n < len(arrivals) && arrivals[n] <= past; n++ {
			w := &waiter{visitor: f.visitor(), name: strconv.Itoa(n)}
			l.arrived[w.name] = f.clock.Now()
			line = append(line, w)
		}
		line = slices.DeleteFunc(line, func(w *waiter) bool {
			if f.clock.Now().Before(w.due) {
				return false
			}
			a := w.get("/", with("X-Visitor", w.name))
			seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
			w.due = f.clock.Now().Add(time.Duration(seconds) * time.Second)
			return a.in()
		})
		f.excerpt(begin, begin.Add(time.Minute)) // has the gate look how its rooms stand
		each(past)
		f.pass(stepOfTheDay)
	}
	require.Empty(f.t, line, "everybody got in")
	return l
}

func TestADaysReportSaysWhatTheOriginsLogSays(t *testing.T) {
	const limit, session = 12, time.Minute
	f := start(t, settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.NewUsersPerMinute, s.SessionDuration, s.Bucket = limit, 10, session, 30*time.Second
	}))
	day := f.clock.Now().Truncate(24 * time.Hour)
	random := rand.New(rand.NewPCG(1, 2))
	var arrivals []time.Duration
	for range 6 {
		arrivals = append(arrivals, time.Duration(random.Int64N(int64(10*time.Minute)))) // one by one
	}
	for range 120 {
		arrivals = append(arrivals, 15*time.Minute+time.Duration(random.Int64N(int64(4*time.Minute))))
	}
	slices.Sort(arrivals)
	l := f.crowdOfADay(32*time.Minute, arrivals, func(past time.Duration) {
		if past == 20*time.Minute {
			require.Equal(t, http.StatusOK, f.patch(`{"new_users_per_minute": 11}`).status)
		}
	})
	end := f.clock.Now()
	e := f.excerpt(day, day.Add(24*time.Hour))
	r := report.Make(report.Config{Room: "shop", From: day, To: day.Add(24 * time.Hour), Now: end, Gates: []record.Excerpt{e}})
	log := l.judge(session)

	assert.Equal(t, len(l.seen), r.People.LetIn)
	assert.Equal(t, len(l.seen), r.People.ByStore)
	require.Equal(t, len(log.waits), r.Waits.Visitors)
	for share, told := range map[float64]int{.25: r.Waits.P25, .5: r.Waits.P50, .75: r.Waits.P75, .95: r.Waits.P95, 1: r.Waits.Longest} {
		assert.InEpsilon(t, log.percentile(share), told, .04, "the wait that a share of %g did not exceed", share)
	}
	assert.Equal(t, log.mostActive, r.Active.Most)
	assert.Equal(t, limit, r.Active.Limit)
	most := 0
	for _, n := range log.perMinute {
		most = max(most, n)
	}
	assert.Equal(t, most, r.Admitted.Most)
	assert.Zero(t, r.Active.Over+r.Admitted.Over)
	for _, m := range r.Minutes {
		assert.Equal(t, log.perMinute[m.At], m.Room.Admitted, "%s", m.At)
		assert.Equal(t, log.perMinute[m.At], m.LetIn, "%s", m.At)
	}
	require.NotEmpty(t, r.Queues)
	assert.InDelta(t, .95, r.Slots.UsedShare, .06)
	require.NotNil(t, r.Told)
	assert.LessOrEqual(t, r.Told.Visitors, r.Waits.Visitors)
	assert.Equal(t, []record.Change{{At: day.Add(16*time.Hour + 14*time.Minute + 10*time.Second), By: "127.0.0.1", What: "new_users_per_minute", From: "10", To: "11"}}, r.Changes)
	require.Len(t, r.Known.Gaps, 1, "the gate was started in the day")
	assert.Equal(t, day, r.Known.Gaps[0].From)
	assert.InDelta(t, 32*60/end.Sub(day).Seconds(), r.Known.Share, .001)
	var page strings.Builder
	require.NoError(t, r.WriteHTML(&page))
	assert.Contains(t, page.String(), "<title>shop, Thursday, 27 May 2021")
}

func TestTwoGatesOfARoomAreOneReport(t *testing.T) {
	store := memstore.New()
	shared := func(_ *proxy.Config, o *proxy.Options) { o.Store = store }
	limits := settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 })
	one := start(t, shared, limits)
	clockOfOne := func(_ *proxy.Config, o *proxy.Options) { o.Clock = one.clock.Now }
	two := start(t, shared, limits, clockOfOne)
	from, to := one.clock.Now().Add(-time.Hour), one.clock.Now().Add(time.Hour)
	look := func() {
		for range 3 {
			for _, f := range []*fixture{one, two} {
				f.status("shop")
				f.excerpt(from, to)
			}
			one.clock.add(time.Second)
		}
	}
	look()
	for _, f := range []*fixture{one, two, one} {
		require.True(t, f.visitor().get("/").in())
	}
	for _, f := range []*fixture{one, two, two} {
		require.False(t, f.visitor().get("/").in())
	}
	look()
	require.Equal(t, http.StatusOK, one.patch(`{"total_active_users": 2}`).status)
	look()
	r := report.Make(report.Config{Room: "shop", From: from, To: to, Now: one.clock.Now(), Gates: []record.Excerpt{one.excerpt(from, to), two.excerpt(from, to)}})
	assert.Equal(t, 2, r.Gates)
	assert.Equal(t, 3, r.People.LetIn, "two at one gate, and one at the other")
	assert.Equal(t, 3, r.People.ByStore, "of which both gates know")
	assert.Equal(t, 3, r.Active.Most)
	assert.Equal(t, 3, r.Queued.Most)
	require.Len(t, r.Changes, 1, "a change is one, wherever it was made and heard of")
	assert.Equal(t, record.Change{At: r.Changes[0].At, By: "127.0.0.1", What: "total_active_users", From: "3", To: "2"}, r.Changes[0])
}

func TestTheRecordHasWhatOperatorsDoToVisitors(t *testing.T) {
	f := start(t)
	f.full()
	var list struct {
		Active []struct {
			ID string `json:"id"`
		} `json:"active"`
	}
	f.api(http.MethodGet, "/api/v1/rooms/shop/visitors", "", &list)
	require.Len(t, list.Active, 1)
	id := list.Active[0].ID
	require.Equal(t, http.StatusOK, f.api(http.MethodPost, "/api/v1/rooms/shop/visitors/"+id+"/renew", "", nil).status)
	require.Equal(t, http.StatusNoContent, f.api(http.MethodDelete, "/api/v1/rooms/shop/visitors/"+id, "", nil).status)
	now := f.clock.Now()
	assert.Equal(t, []record.Change{
		{At: now, By: "127.0.0.1", What: "visitor renewed", To: id}, {At: now, By: "127.0.0.1", What: "visitor removed", To: id},
	}, f.excerpt(now.Add(-time.Minute), now.Add(time.Minute)).Changes)
}

func TestTheRecordCountsWhatIsRefused(t *testing.T) {
	f := start(t)
	f.full()
	f.excerpt(f.clock.Now(), f.clock.Now().Add(time.Minute))
	f.visitor().send(http.MethodHead, "/", nil)
	f.visitor().get("/", with("User-Agent", "Googlebot/2.1"))
	f.visitor().get("/", with("Sec-Purpose", "prefetch"))
	e := f.excerpt(f.clock.Now().Add(-time.Minute), f.clock.Now().Add(time.Minute))
	require.Len(t, e.Minutes, 1)
	assert.Equal(t, record.Refused{Busy: 2, Withheld: 1}, e.Minutes[0].Refused)
}

func TestTheRecordSaysWhatIsWrongWithAQuestion(t *testing.T) {
	f := start(t)
	for query, want := range map[string]string{
		"?from=yesterday": "from is not a time",
		"?to=2021":        "to is not a time",
		"?from=2021-05-27T16:00:00Z&to=2021-05-27T15:00:00Z": "from is not before to",
		"?from=2021-05-01T16:00:00Z&to=2021-05-27T15:00:00Z": "two days apart",
	} {
		a := f.api(http.MethodGet, "/api/v1/rooms/shop/record"+query, "", nil)
		assert.Equal(t, http.StatusUnprocessableEntity, a.status, query)
		assert.Contains(t, a.body, want)
	}
	assert.Equal(t, http.StatusNotFound, f.api(http.MethodGet, "/api/v1/rooms/shops/record", "", nil).status)
	assert.JSONEq(t, `{"minutes": [], "changes": []}`, f.api(http.MethodGet, "/api/v1/rooms/shop/record?from=2021-05-20T16:00:00Z&to=2021-05-21T16:00:00Z", "", nil).body)
}

// A room of a family comes and goes: what it has done stays in the family's record.
func TestTheRoomsOfAFamilyHaveOneRecord(t *testing.T) {
	f := start(t, family(func(r *proxy.RoomConfig) {
		r.MaxRooms, r.RoomIdle = 3, time.Minute
		r.Settings = queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10, SessionDuration: time.Second, RefreshInterval: time.Second, QueueTicketTTL: 2 * time.Second}
	}))
	from, to := f.clock.Now().Add(-time.Hour), f.clock.Now().Add(time.Hour)
	kept := func() (e record.Excerpt) {
		require.Equal(t, http.StatusOK, f.api(http.MethodGet, "/api/v1/rooms/chat/record?from="+from.Format(time.RFC3339)+"&to="+to.Format(time.RFC3339), "", &e).status)
		return e
	}
	kept()
	for _, path := range []string{"/room/a", "/room/b"} {
		require.True(t, f.visitor().get(path).in())
		require.False(t, f.visitor().get(path).in())
	}
	require.Equal(t, http.StatusOK, f.api(http.MethodPatch, "/api/v1/rooms/chat.a", `{"new_users_per_minute": 11}`, nil).status)
	f.status("chat.a")
	f.status("chat.b")
	e := kept()
	require.Len(t, e.Minutes, 1)
	assert.Equal(t, 2, e.Minutes[0].LetIn)
	assert.Equal(t, 2, e.Minutes[0].Room.ActiveMost)
	assert.Equal(t, 2, e.Minutes[0].Room.QueuedMost)
	assert.Equal(t, 2, e.Minutes[0].Room.TotalActiveUsers)
	require.Len(t, e.Changes, 1)
	assert.Equal(t, "new_users_per_minute", e.Changes[0].What)
}

func TestTheReportOfAStoreThatDoesNotAnswerSaysThatNothingIsKnown(t *testing.T) {
	store := &fallible{}
	f := start(t, store.between)
	from, to := f.clock.Now().Add(-time.Minute), f.clock.Now().Add(time.Hour)
	f.excerpt(from, to)
	store.failing.Store(true)
	for range 30 {
		f.pass(10 * time.Second)
		f.excerpt(from, to)
	}
	store.failing.Store(false)
	for range 12 {
		f.pass(10 * time.Second)
		f.excerpt(from, to)
	}
	r := report.Make(report.Config{Room: "shop", From: from, To: to, Now: f.clock.Now(), Gates: []record.Excerpt{f.excerpt(from, to)}})
	assert.InDelta(t, 300, r.Faults.StoreFailingSeconds, 20)
	assert.Positive(t, r.Faults.StoreErrors)
	require.Len(t, r.Known.Gaps, 1, "while the store did not answer")
	assert.InDelta(t, 300, r.Known.Gaps[0].To.Sub(r.Known.Gaps[0].From).Seconds(), 70)
}

package history_test

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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
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

// crowdOfADay sends a crowd to a gate for some hours in virtual time, and returns what the origin
// saw. each is called at every step.
func crowdOfADay(f *gatetest.Fixture, lasts time.Duration, arrivals []time.Duration, each func(past time.Duration)) *arrivalLog {
	l := &arrivalLog{arrived: map[string]time.Time{}, seen: map[string]time.Time{}}
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		if name := r.Header.Get("X-Visitor"); l.seen[name].IsZero() {
			l.seen[name] = f.Clock.Now()
		}
		_, _ = fmt.Fprint(w, "in")
	})
	type waiter struct {
		*gatetest.Visitor
		name string
		due  time.Time
	}
	var line []*waiter
	begin := f.Clock.Now()
	for past := time.Duration(0); past < lasts; past += stepOfTheDay {
		for n := len(l.arrived); n < len(arrivals) && arrivals[n] <= past; n++ {
			w := &waiter{Visitor: f.Visitor(), name: strconv.Itoa(n)}
			l.arrived[w.name] = f.Clock.Now()
			line = append(line, w)
		}
		line = slices.DeleteFunc(line, func(w *waiter) bool {
			if f.Clock.Now().Before(w.due) {
				return false
			}
			a := w.Get("/", gatetest.With("X-Visitor", w.name))
			seconds, _ := strconv.Atoi(a.Header.Get("Retry-After"))
			w.due = f.Clock.Now().Add(time.Duration(seconds) * time.Second)
			return a.In()
		})
		f.Excerpt(begin, begin.Add(time.Minute)) // has the gate look how its rooms stand
		each(past)
		f.Pass(stepOfTheDay)
	}
	require.Empty(f.T, line, "everybody got in")
	return l
}

func TestADaysReportSaysWhatTheOriginsLogSays(t *testing.T) {
	const limit, session = 12, time.Minute
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.NewUsersPerMinute, s.SessionDuration, s.Bucket = limit, 10, session, 30*time.Second
	}))
	day := f.Clock.Now().Truncate(24 * time.Hour)
	random := rand.New(rand.NewPCG(1, 2))
	var arrivals []time.Duration
	for range 6 {
		arrivals = append(arrivals, time.Duration(random.Int64N(int64(10*time.Minute)))) // one by one
	}
	for range 120 {
		arrivals = append(arrivals, 15*time.Minute+time.Duration(random.Int64N(int64(4*time.Minute))))
	}
	slices.Sort(arrivals)
	l := crowdOfADay(f, 32*time.Minute, arrivals, func(past time.Duration) {
		if past == 20*time.Minute {
			require.Equal(t, http.StatusOK, f.Patch(`{"new_users_per_minute": 11}`).Status)
		}
	})
	end := f.Clock.Now()
	e := f.Excerpt(day, day.Add(24*time.Hour))
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
	limits := gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 })
	one := gatetest.Start(t, shared, limits)
	clockOfOne := func(_ *proxy.Config, o *proxy.Options) { o.Clock = one.Clock.Now }
	two := gatetest.Start(t, shared, limits, clockOfOne)
	from, to := one.Clock.Now().Add(-time.Hour), one.Clock.Now().Add(time.Hour)
	look := func() {
		for range 3 {
			for _, f := range []*gatetest.Fixture{one, two} {
				f.Status("shop")
				f.Excerpt(from, to)
			}
			one.Clock.Add(time.Second)
		}
	}
	look()
	for _, f := range []*gatetest.Fixture{one, two, one} {
		require.True(t, f.Visitor().Get("/").In())
	}
	for _, f := range []*gatetest.Fixture{one, two, two} {
		require.False(t, f.Visitor().Get("/").In())
	}
	look()
	require.Equal(t, http.StatusOK, one.Patch(`{"total_active_users": 2}`).Status)
	look()
	r := report.Make(report.Config{Room: "shop", From: from, To: to, Now: one.Clock.Now(), Gates: []record.Excerpt{one.Excerpt(from, to), two.Excerpt(from, to)}})
	assert.Equal(t, 2, r.Gates)
	assert.Equal(t, 3, r.People.LetIn, "two at one gate, and one at the other")
	assert.Equal(t, 3, r.People.ByStore, "of which both gates know")
	assert.Equal(t, 3, r.Active.Most)
	assert.Equal(t, 3, r.Queued.Most)
	require.Len(t, r.Changes, 1, "a change is one, wherever it was made and heard of")
	assert.Equal(t, record.Change{At: r.Changes[0].At, By: "127.0.0.1", What: "total_active_users", From: "3", To: "2"}, r.Changes[0])
}

func TestTheRecordHasWhatOperatorsDoToVisitors(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	var list struct {
		Active []struct {
			ID string `json:"id"`
		} `json:"active"`
	}
	f.API(http.MethodGet, "/api/v1/rooms/shop/visitors", "", &list)
	require.Len(t, list.Active, 1)
	id := list.Active[0].ID
	require.Equal(t, http.StatusOK, f.API(http.MethodPost, "/api/v1/rooms/shop/visitors/"+id+"/renew", "", nil).Status)
	require.Equal(t, http.StatusNoContent, f.API(http.MethodDelete, "/api/v1/rooms/shop/visitors/"+id, "", nil).Status)
	now := f.Clock.Now()
	assert.Equal(t, []record.Change{
		{At: now, By: "127.0.0.1", What: "visitor renewed", To: id}, {At: now, By: "127.0.0.1", What: "visitor removed", To: id},
	}, f.Excerpt(now.Add(-time.Minute), now.Add(time.Minute)).Changes)
}

func TestTheRecordCountsWhatIsRefused(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	f.Excerpt(f.Clock.Now(), f.Clock.Now().Add(time.Minute))
	f.Visitor().Send(http.MethodHead, "/", nil)
	f.Visitor().Get("/", gatetest.With("User-Agent", "Googlebot/2.1"))
	f.Visitor().Get("/", gatetest.With("Sec-Purpose", "prefetch"))
	e := f.Excerpt(f.Clock.Now().Add(-time.Minute), f.Clock.Now().Add(time.Minute))
	require.Len(t, e.Minutes, 1)
	assert.Equal(t, record.Refused{Busy: 2, Withheld: 1}, e.Minutes[0].Refused)
}

func TestTheRecordSaysWhatIsWrongWithAQuestion(t *testing.T) {
	f := gatetest.Start(t)
	for query, want := range map[string]string{
		"?from=yesterday": "from is not a time",
		"?to=2021":        "to is not a time",
		"?from=2021-05-27T16:00:00Z&to=2021-05-27T15:00:00Z": "from is not before to",
		"?from=2021-05-01T16:00:00Z&to=2021-05-27T15:00:00Z": "two days apart",
	} {
		a := f.API(http.MethodGet, "/api/v1/rooms/shop/record"+query, "", nil)
		assert.Equal(t, http.StatusUnprocessableEntity, a.Status, query)
		assert.Contains(t, a.Body, want)
	}
	assert.Equal(t, http.StatusNotFound, f.API(http.MethodGet, "/api/v1/rooms/shops/record", "", nil).Status)
	assert.JSONEq(t, `{"minutes": [], "changes": []}`, f.API(http.MethodGet, "/api/v1/rooms/shop/record?from=2021-05-20T16:00:00Z&to=2021-05-21T16:00:00Z", "", nil).Body)
}

// A room of a family comes and goes: what it has done stays in the family's record.
func TestTheRoomsOfAFamilyHaveOneRecord(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) {
		r.MaxRooms, r.RoomIdle = 3, time.Minute
		r.Settings = queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10, SessionDuration: time.Second, RefreshInterval: time.Second, QueueTicketTTL: 2 * time.Second}
	}))
	from, to := f.Clock.Now().Add(-time.Hour), f.Clock.Now().Add(time.Hour)
	kept := func() (e record.Excerpt) {
		require.Equal(t, http.StatusOK, f.API(http.MethodGet, "/api/v1/rooms/chat/record?from="+from.Format(time.RFC3339)+"&to="+to.Format(time.RFC3339), "", &e).Status)
		return e
	}
	kept()
	for _, path := range []string{"/room/a", "/room/b"} {
		require.True(t, f.Visitor().Get(path).In())
		require.False(t, f.Visitor().Get(path).In())
	}
	require.Equal(t, http.StatusOK, f.API(http.MethodPatch, "/api/v1/rooms/chat.a", `{"new_users_per_minute": 11}`, nil).Status)
	f.Status("chat.a")
	f.Status("chat.b")
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
	store := &gatetest.Fallible{}
	f := gatetest.Start(t, store.Between)
	from, to := f.Clock.Now().Add(-time.Minute), f.Clock.Now().Add(time.Hour)
	f.Excerpt(from, to)
	store.Failing.Store(true)
	for range 30 {
		f.Pass(10 * time.Second)
		f.Excerpt(from, to)
	}
	store.Failing.Store(false)
	for range 12 {
		f.Pass(10 * time.Second)
		f.Excerpt(from, to)
	}
	r := report.Make(report.Config{Room: "shop", From: from, To: to, Now: f.Clock.Now(), Gates: []record.Excerpt{f.Excerpt(from, to)}})
	assert.InDelta(t, 300, r.Faults.StoreFailingSeconds, 20)
	assert.Positive(t, r.Faults.StoreErrors)
	require.Len(t, r.Known.Gaps, 1, "while the store did not answer")
	assert.InDelta(t, 300, r.Known.Gaps[0].To.Sub(r.Known.Gaps[0].From).Seconds(), 70)
}

func TestTheRecordHasWhoGaveUpAndHowTheOriginDid(t *testing.T) {
	f := gatetest.Start(t)
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	began := f.Clock.Now()
	in := f.Visitor()
	in.Get("/")
	stays, gone := f.Waits(), f.Waits()
	for range 32 { // a window ends a little after the check-in is due
		f.Pass(gatetest.Interval / 8)
		in.Get("/")
		stays.Get("/")
	}
	for range 64 { // syncs, in which all are counted
		f.Pass(0)
	}
	_ = gone
	sum := record.Sum(f.Excerpt(began.Add(-time.Minute), f.Clock.Now().Add(time.Minute)).Minutes)
	assert.Equal(t, 1, *sum.GaveUp, "who checks in waits, and who is in has not given up")
	assert.Equal(t, 33, sum.OriginAnswers)
	assert.Equal(t, 33, sum.OriginFaults)
	assert.Positive(t, sum.OriginSeconds)
}

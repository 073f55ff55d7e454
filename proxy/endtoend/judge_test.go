package endtoend_test

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The headers by which clients tell the origin who they are and when they asked.
// The gate knows neither.
const (
	visitorHeader = "X-Visitor"
	sentHeader    = "X-Sent"
)

// sight is a request that the origin saw. The gate decided about it somewhere
// between sent and seen, which is all that the judge presumes.
type sight struct {
	visitor    string
	sent, seen time.Time
}

// journal is the origin's log.
type journal struct {
	mu     sync.Mutex
	sights []sight
}

// ServeHTTP takes a request down and answers "in".
func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := time.Now()
	nanos, _ := strconv.ParseInt(r.Header.Get(sentHeader), 10, 64)
	j.mu.Lock()
	j.sights = append(j.sights, sight{visitor: r.Header.Get(visitorHeader), sent: time.Unix(0, nanos), seen: seen})
	j.mu.Unlock()
	_, _ = io.WriteString(w, "in")
}

// all returns what was seen, in order.
func (j *journal) all() []sight {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.SortedFunc(slices.Values(j.sights), func(a, b sight) int { return a.seen.Compare(b.seen) })
}

// seen says how many requests the origin has seen.
func (j *journal) seen() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.sights)
}

// limits are what a gate was told to keep.
type limits struct {
	active, perMinute int
	session           time.Duration
}

// admission is the beginning of a session, and who was active then, surely.
type admission struct {
	sight
	active int // with the one who was admitted
}

// judgeLimits asserts that the limits were kept at every moment and in every
// minute, by the origin's log alone, and returns the admissions.
func judgeLimits(t *testing.T, log []sight, l limits) []admission {
	t.Helper()
	var admissions []admission
	minutes := map[time.Time]int{}
	last := map[string]time.Time{} // when they were active last, at the earliest
	most := 0
	for _, s := range log {
		before, known := last[s.visitor]
		last[s.visitor] = maxTime(before, s.sent)
		active := 0
		for _, at := range last {
			if s.seen.Sub(at) < l.session-time.Millisecond { // a gate's time is rounded down to milliseconds
				active++
			}
		}
		most = max(most, active)
		if known && s.sent.Sub(before) < l.session {
			continue
		}
		admissions = append(admissions, admission{sight: s, active: active})
		if m := s.sent.Truncate(time.Minute); m.Equal(s.seen.Truncate(time.Minute)) {
			minutes[m]++
		}
	}
	assert.LessOrEqual(t, most, l.active, "people active at a time")
	for m, n := range minutes {
		assert.LessOrEqual(t, n, l.perMinute, "admissions in the minute %v", m)
	}
	t.Logf("%d requests, %d admissions, at most %d of %d active, per minute %v", len(log), len(admissions), most, l.active, minutes)
	return admissions
}

// bucket is what the gates of these tests round arrival times down to.
const bucket = time.Second

// wait is a stretch of time in which someone was surely present in line: from
// the answer to a check-in until they asked again.
type wait struct {
	visitor  string
	arrived  time.Time // when they had joined, at the latest
	from, to time.Time
}

// judgeOrder asserts that nobody was let in but by a slot beyond those that
// everyone present in an earlier bucket needed. excused are times for which it
// is not asked.
func judgeOrder(t *testing.T, admissions []admission, waits []wait, joined map[string]time.Time, l limits, excused func(time.Time) bool) {
	t.Helper()
	faults := 0
	for _, a := range admissions {
		if excused != nil && excused(a.seen) {
			continue
		}
		arrived := cmp.Or(joined[a.visitor], a.sent) // at the earliest
		ahead := map[string]bool{}
		for _, w := range waits {
			if w.from.Before(a.sent) && w.to.After(a.seen) && w.visitor != a.visitor &&
				w.arrived.Truncate(bucket).Before(arrived.Truncate(bucket)) {
				ahead[w.visitor] = true
			}
		}
		if a.active+len(ahead) > l.active {
			faults++
			if faults <= 5 {
				assert.Failf(t, "out of turn", "%s was let in at %v with %d people ahead and %d of %d active",
					a.visitor, a.seen.Format("05.000"), len(ahead), a.active, l.active)
			}
		}
	}
}

// judgeIdle asserts that no slot was left idle for longer than the bound while
// somebody waited.
func judgeIdle(t *testing.T, log []sight, waits []wait, l limits, bound time.Duration) {
	t.Helper()
	if len(log) == 0 {
		assert.Fail(t, "nobody was let in")
		return
	}
	const step = 50 * time.Millisecond
	var idle, longest time.Duration
	for at := log[0].seen; at.Before(log[len(log)-1].seen); at = at.Add(step) {
		idle += step
		if len(holders(log, at, l.session)) >= l.active || !anyWaits(waits, at) {
			idle = 0
		}
		longest = max(longest, idle)
	}
	t.Logf("longest that a slot was idle: %v", longest)
	assert.LessOrEqual(t, longest, bound, "a slot was idle while people waited")
}

// judgeRefill asserts that every slot was given away again within the bound
// after its session had ended, if people waited all the time. Where several
// slots are refilled at a time it asks of each what judgeIdle asks of all.
func judgeRefill(t *testing.T, log []sight, waits []wait, l limits, bound time.Duration) {
	t.Helper()
	const step = 100 * time.Millisecond
	longest := time.Duration(0)
	waited := time.Duration(0) // how long people have waited without a break
	for at := log[0].seen; at.Before(log[len(log)-1].seen); at = at.Add(step) {
		waited += step
		if !anyWaits(waits, at) {
			waited = 0
		}
		for longest < waited && len(holders(log, at, l.session+longest)) < l.active {
			longest += step
		}
	}
	t.Logf("longest that a slot was not given away again: %v", longest)
	assert.LessOrEqual(t, longest, bound, "a slot was idle while people waited")
}

// holders are those who may have held a slot then: ends of sessions are rounded
// up by an eighth of a second.
func holders(log []sight, at time.Time, session time.Duration) map[string]bool {
	held := map[string]bool{}
	for _, s := range log {
		if !s.sent.After(at) && at.Sub(s.seen) < session+125*time.Millisecond {
			held[s.visitor] = true
		}
	}
	return held
}

func anyWaits(waits []wait, at time.Time) bool {
	return slices.ContainsFunc(waits, func(w wait) bool { return !w.from.After(at) && w.to.After(at) })
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

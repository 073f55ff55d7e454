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

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

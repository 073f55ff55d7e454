package load

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// Origin takes down which requests of the crowd reach the origin. As a handler it is an
// origin itself.
type Origin struct {
	mu     sync.Mutex
	sights []sight
}

// sight is a request that the origin saw. The gate decided about it between two moments.
type sight struct {
	person   int
	from, to time.Time
}

// ServeHTTP answers every request.
func (o *Origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := time.Now()
	if nanos, err := strconv.ParseInt(r.Header.Get(sentHeader), 10, 64); err == nil {
		o.Saw(r.UserAgent(), time.Unix(0, nanos), seen)
	}
	_, _ = io.WriteString(w, "You are in.\n")
}

// Saw notes a request about which the gate decided between two moments. Those that are not
// the crowd's are left out.
func (o *Origin) Saw(userAgent string, from, to time.Time) {
	number, ok := numberOf(userAgent)
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sights = append(o.sights, sight{person: number, from: from, to: to})
}

// session names one of a person's sessions.
type session struct{ person, number int }

// judge measures the limits by what the origin saw of people. See the package comment.
func (o *Origin) judge(people []person, s queue.Settings) *measure.Limits[session] {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.SortStableFunc(o.sights, func(a, b sight) int { return cmp.Compare(a.to.UnixNano(), b.to.UnixNano()) })
	limits, requests := measure.NewLimits[session](), make([]int, len(people))
	for _, seen := range o.sights {
		if seen.person >= len(people) {
			continue
		}
		p := &people[seen.person]
		id, lasts := session{person: p.number}, s.SessionDuration
		if p.Bot {
			id.number = requests[p.number]
		}
		if p.Bot || p.waits == 0 && requests[p.number] == 0 { // the ticket has not come back
			lasts = s.Lease(s.ConfirmWithin, 0)
		}
		requests[p.number]++
		if s.DisableSessionRenewal && requests[p.number] > 1 && !p.Bot {
			lasts = 0
		}
		from, to := queue.At(seen.from), queue.At(seen.to)
		if limits.Seen(to, id, from.Add(lasts)) && from.Floor(time.Minute) == to.Floor(time.Minute) {
			limits.Admitted(to)
		}
	}
	return limits
}

package guests_test

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// beta is a waitlist that counts how often its numbers are asked for.
type beta struct {
	name                string // "" is beta
	asked, atOnce, most atomic.Int64
	failing             bool
	numbers             waitlist.Numbers
}

func (b *beta) Name() string { return cmp.Or(b.name, "beta") }

func (*beta) Settings() waitlist.Settings { return waitlist.Settings{Capacity: 500} }

func (b *beta) Numbers(context.Context) (waitlist.Numbers, error) {
	b.asked.Add(1)
	b.most.Store(max(b.most.Load(), b.atOnce.Add(1)))
	defer b.atOnce.Add(-1)
	for range 1000 {
		runtime.Gosched() // so that others can come meanwhile
	}
	if b.failing {
		return waitlist.Numbers{}, assert.AnError
	}
	return b.numbers, nil
}

// metricsOf are the metrics of some waitlists.
func metricsOf(clock func() time.Time, lists ...guests.Numbered) (*metrics.Metrics, *guests.Metrics) {
	m := metrics.New(nothing{})
	return m, guests.NewMetrics(m, clock, func() iter.Seq[guests.Numbered] { return slices.Values(lists) })
}

// countersOf are the counters of a waitlist that nobody asks for.
func countersOf(name string) guests.Counters {
	_, m := metricsOf(time.Now)
	return m.Waitlist(name)
}

// nothing is a gate without rooms.
type nothing struct{}

func (nothing) Groups() iter.Seq[metrics.Group] { return func(func(metrics.Group) bool) {} }

func (nothing) Origins() iter.Seq2[string, bool] { return func(func(string, bool) bool) {} }

// exposition is what Prometheus reads.
func exposition(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func TestAWaitlistTellsItsNumbers(t *testing.T) {
	b := &beta{numbers: waitlist.Numbers{
		Entries: map[waitlist.Status]int{waitlist.Waiting: 1200, waitlist.Invited: 7}, Held: 300, Mails: 4, Paused: true, Released: 330, Accepted: 293, Expired: 30,
		Undelivered: 3,
	}}
	m, lists := metricsOf(time.Now, b)
	c := lists.Waitlist("beta")
	c.CountSignUp(guests.Acknowledged)
	c.CountSignUp(guests.Limited)
	c.CountMails(5, 2)
	text := exposition(m)
	for _, line := range []string{
		`entries{status="waiting",waitlist="beta"} 1200`, `entries{status="invited",waitlist="beta"} 7`, `entries{status="removed",waitlist="beta"} 0`,
		`held{waitlist="beta"} 300`, `capacity{waitlist="beta"} 500`, `paused{waitlist="beta"} 1`, `mails_waiting{waitlist="beta"} 4`,
		`invites_released_total{waitlist="beta"} 330`, `invites_accepted_total{waitlist="beta"} 293`, `invites_expired_total{waitlist="beta"} 30`,
		`invites_undelivered_total{waitlist="beta"} 3`,
		`sign_ups_total{result="acknowledged",waitlist="beta"} 1`, `sign_ups_total{result="limited",waitlist="beta"} 1`,
		`sign_ups_total{result="failed",waitlist="beta"} 0`, `mails_sent_total{waitlist="beta"} 5`, `mails_failed_total{waitlist="beta"} 2`,
	} {
		assert.Contains(t, text, "\nfairdoor_waitlist_"+line+"\n")
	}
}

func TestTheRecordOfAWaitlistIsAskedSeldomAndNeverTwiceAtOnce(t *testing.T) {
	var passed atomic.Int64
	b := &beta{}
	m, _ := metricsOf(func() time.Time { return time.Unix(1e9, passed.Load()) }, b)
	scrape := func() {
		var scrapes sync.WaitGroup
		for range 8 {
			scrapes.Go(func() { exposition(m) })
		}
		scrapes.Wait()
	}
	scrape()
	passed.Store(int64(10*time.Second - 1))
	scrape()
	assert.EqualValues(t, 1, b.asked.Load())
	b.failing = true
	passed.Store(int64(10 * time.Second))
	scrape()
	assert.EqualValues(t, 2, b.asked.Load(), "a record that fails is not asked more often")
	assert.EqualValues(t, 1, b.most.Load())
	assert.NotContains(t, exposition(m), "fairdoor_waitlist_held", "what is not known is not told")
}

// meeting is a waitlist whose record answers once all records are asked.
type meeting struct {
	beta
	missing *atomic.Int64
	met     chan struct{} // closed when none is missing
}

func (m *meeting) Numbers(ctx context.Context) (waitlist.Numbers, error) {
	if m.missing.Add(-1) == 0 {
		close(m.met)
	}
	select {
	case <-m.met:
		return m.beta.Numbers(ctx)
	case <-ctx.Done():
		return waitlist.Numbers{}, ctx.Err()
	}
}

func TestNoRecordWaitsForAnother(t *testing.T) {
	missing, met := new(atomic.Int64), make(chan struct{})
	missing.Store(3)
	var lists []guests.Numbered
	for _, name := range []string{"alpha", "beta", "gamma"} {
		lists = append(lists, &meeting{beta{name: name}, missing, met})
	}
	m, _ := metricsOf(time.Now, lists...)
	text := exposition(m)
	for _, name := range []string{"alpha", "beta", "gamma"} {
		assert.Contains(t, text, `fairdoor_waitlist_held{waitlist="`+name+`"} 0`)
	}
}

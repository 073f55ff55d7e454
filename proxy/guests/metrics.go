package guests

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Numbered is what the metrics ask of a [waitlist.List].
type Numbered interface {
	Name() string
	Settings() waitlist.Settings
	Numbers(ctx context.Context) (waitlist.Numbers, error)
}

// SignUp is what became of a sign-up.
type SignUp int

// What can become of a sign-up.
const (
	Acknowledged SignUp = iota // it is on the disk, be it new or not
	Invalid                    // it had no address
	Limited                    // its network had signed up too often
	Failed                     // the record did not answer
	Unproven                   // the sender had not passed the challenge
	signUps
)

var signUpNames = [signUps]string{"acknowledged", "invalid", "limited", "failed", "unproven"}

// Metrics are those of all waitlists of a gate.
type Metrics struct {
	signUps, sent, failed metrics.Series
	clock                 func() time.Time

	mu    sync.Mutex // guards asked
	asked map[string]*figures
}

// NewMetrics returns the metrics of the waitlists that a gate has when they are asked for.
func NewMetrics(of *metrics.Metrics, clock func() time.Time, lists func() iter.Seq[Numbered]) *Metrics {
	m := &Metrics{
		signUps: of.Series("fairdoor_waitlist_sign_ups_total", "Sign-ups by what became of them.", "waitlist", "result"),
		sent:    of.Series("fairdoor_waitlist_mails_sent_total", "Mails that were sent.", "waitlist"),
		failed:  of.Series("fairdoor_waitlist_mails_failed_total", "Mails that could not be sent, each time; they are tried again.", "waitlist"),
		clock:   clock, asked: map[string]*figures{},
	}
	of.Collect(func(tell metrics.Tell) { m.collect(tell, lists()) }, numbers()...)
	return m
}

// Counters are those of a waitlist.
type Counters struct {
	signUps      [signUps]metrics.Counter
	sent, failed metrics.Counter
}

// Waitlist returns the counters of the waitlist of a name.
func (m *Metrics) Waitlist(name string) Counters {
	c := Counters{sent: m.sent.With(name), failed: m.failed.With(name)}
	for i, result := range signUpNames {
		c.signUps[i] = m.signUps.With(name, result)
	}
	return c
}

// CountSignUp counts a sign-up.
func (c *Counters) CountSignUp(what SignUp) { c.signUps[what].Inc() }

// CountMails counts mails that were sent, and those that could not be.
func (c *Counters) CountMails(sent, failed int) {
	c.sent.Add(float64(sent))
	c.failed.Add(float64(failed))
}

// The numbers of a waitlist take the record some tenths of a second at a million entries. So they
// are asked for at most once in keepNumbers, and not waited for longer than waitForNumbers.
const keepNumbers, waitForNumbers = 10 * time.Second, 5 * time.Second

// figures are what a record has answered, if it has.
type figures struct {
	mu      sync.Mutex // held while the record is asked, so that it is not asked twice at once; guards the rest
	at      time.Time  // zero before it is asked
	known   bool
	numbers waitlist.Numbers
}

// numbers returns the numbers of a waitlist; they are not known if its record does not answer.
func (m *Metrics) numbers(l Numbered) (n waitlist.Numbers, known bool) {
	f := m.of(l.Name())
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := m.clock(); f.at.IsZero() || now.Sub(f.at) >= keepNumbers {
		ctx, cancel := context.WithTimeout(context.Background(), waitForNumbers)
		defer cancel()
		numbers, err := l.Numbers(ctx)
		f.at, f.known, f.numbers = now, err == nil, numbers
	}
	return f.numbers, f.known
}

// of returns the figures of a waitlist.
func (m *Metrics) of(name string) *figures {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.asked[name]
	if f == nil {
		f = new(figures)
		m.asked[name] = f
	}
	return f
}

// collect asks all records at once, so that none waits for another that does not answer.
func (m *Metrics) collect(tell metrics.Tell, lists iter.Seq[Numbered]) {
	var asking sync.WaitGroup
	for l := range lists {
		asking.Go(func() {
			n, known := m.numbers(l)
			if !known {
				return
			}
			for _, s := range waitlist.Statuses() {
				tell(entries, float64(n.Entries[s]), l.Name(), string(s))
			}
			s := l.Settings()
			for _, i := range ofList {
				tell(i.Number, i.of(&n, &s), l.Name())
			}
		})
	}
	asking.Wait()
}

var entries = metrics.Gauge("fairdoor_waitlist_entries", "People on the list, by status.", "waitlist", "status")

// ofList are the other numbers of a waitlist.
var ofList = []struct {
	*metrics.Number
	of func(n *waitlist.Numbers, s *waitlist.Settings) float64
}{
	{metrics.Gauge("fairdoor_waitlist_held", "Live invites and acceptances.", "waitlist"), func(n *waitlist.Numbers, _ *waitlist.Settings) float64 { return float64(n.Held) }},
	{metrics.Gauge("fairdoor_waitlist_capacity", "The setting capacity in force; 0 is unlimited.", "waitlist"), func(_ *waitlist.Numbers, s *waitlist.Settings) float64 { return float64(s.Capacity) }},
	{metrics.Gauge("fairdoor_waitlist_paused", "1 while nobody is invited.", "waitlist"), func(n *waitlist.Numbers, _ *waitlist.Settings) float64 { return metrics.If(n.Paused) }},
	{metrics.Gauge("fairdoor_waitlist_mails_waiting", "Mails that are still to be sent.", "waitlist"), func(n *waitlist.Numbers, _ *waitlist.Settings) float64 { return float64(n.Mails) }},
	{metrics.Total("fairdoor_waitlist_invites_released_total", "Spots that were ever given.", "waitlist"), func(n *waitlist.Numbers, _ *waitlist.Settings) float64 { return float64(n.Released) }},
	{metrics.Total("fairdoor_waitlist_invites_accepted_total", "Spots that were ever accepted.", "waitlist"), func(n *waitlist.Numbers, _ *waitlist.Settings) float64 { return float64(n.Accepted) }},
	{metrics.Total("fairdoor_waitlist_invites_expired_total", "Spots that have ever expired.", "waitlist"), func(n *waitlist.Numbers, _ *waitlist.Settings) float64 { return float64(n.Expired) }},
	{metrics.Total("fairdoor_waitlist_invites_undelivered_total", "Invites that have expired because their mail could not be delivered.", "waitlist"), func(n *waitlist.Numbers, _ *waitlist.Settings) float64 { return float64(n.Undelivered) }},
}

// numbers are those that are told of waitlists.
func numbers() []*metrics.Number {
	all := []*metrics.Number{entries}
	for _, i := range ofList {
		all = append(all, i.Number)
	}
	return all
}

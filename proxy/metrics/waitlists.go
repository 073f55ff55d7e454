package metrics

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Waitlist is what the metrics ask of a [waitlist.List].
type Waitlist interface {
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

// WaitlistCounters are those of a waitlist.
type WaitlistCounters struct {
	signUps      [signUps]prometheus.Counter
	sent, failed prometheus.Counter
}

// Waitlist returns the counters of a waitlist.
func (m *Metrics) Waitlist(name string) WaitlistCounters {
	c := WaitlistCounters{sent: m.mailsSent.WithLabelValues(name), failed: m.mailsFailed.WithLabelValues(name)}
	for i, result := range signUpNames {
		c.signUps[i] = m.signUps.WithLabelValues(name, result)
	}
	return c
}

// CountSignUp counts a sign-up.
func (c *WaitlistCounters) CountSignUp(what SignUp) { c.signUps[what].Inc() }

// CountMails counts mails that were sent, and those that could not be.
func (c *WaitlistCounters) CountMails(sent, failed int) {
	c.sent.Add(float64(sent))
	c.failed.Add(float64(failed))
}

// The numbers of a waitlist take the record some tenths of a second at a million entries. So they
// are asked for at most once in keepNumbers, and not waited for longer than patience.
const keepNumbers, patience = 10 * time.Second, 5 * time.Second

// waitlists remembers the numbers of waitlists.
type waitlists struct {
	clock func() time.Time

	mu    sync.Mutex // guards asked
	asked map[string]*figures
}

// figures are what a record has answered, if it has.
type figures struct {
	mu      sync.Mutex // held while the record is asked, so that it is not asked twice at once; guards the rest
	at      time.Time  // zero before it is asked
	known   bool
	numbers waitlist.Numbers
}

// numbers returns the numbers of a waitlist; they are not known if its record does not answer.
func (w *waitlists) numbers(l Waitlist) (n waitlist.Numbers, known bool) {
	f := w.of(l.Name())
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := w.clock(); f.at.IsZero() || now.Sub(f.at) >= keepNumbers {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		numbers, err := l.Numbers(ctx)
		f.at, f.known, f.numbers = now, err == nil, numbers
	}
	return f.numbers, f.known
}

// of returns the figures of a waitlist.
func (w *waitlists) of(name string) *figures {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.asked[name]
	if f == nil {
		f = new(figures)
		w.asked[name] = f
	}
	return f
}

// collectWaitlists asks all records at once, so that none waits for another that does not answer.
func (w *waitlists) collectWaitlists(to chan<- prometheus.Metric, lists iter.Seq[Waitlist]) {
	var asking sync.WaitGroup
	for l := range lists {
		asking.Go(func() {
			if n, known := w.numbers(l); known {
				collectWaitlist(to, l, n)
			}
		})
	}
	asking.Wait()
}

var (
	entriesDesc  = waitlistDesc("fairdoor_waitlist_entries", "People on the list, by status.", "status")
	heldDesc     = waitlistDesc("fairdoor_waitlist_held", "Live invites and acceptances.")
	capacityDesc = waitlistDesc("fairdoor_waitlist_capacity", "The setting capacity in force; 0 is unlimited.")
	heldBackDesc = waitlistDesc("fairdoor_waitlist_paused", "1 while nobody is invited.")
	mailsDesc    = waitlistDesc("fairdoor_waitlist_mails_waiting", "Mails that are still to be sent.")
	releasedDesc = waitlistDesc("fairdoor_waitlist_invites_released_total", "Spots that were ever given.")
	acceptedDesc = waitlistDesc("fairdoor_waitlist_invites_accepted_total", "Spots that were ever accepted.")
	expiredDesc  = waitlistDesc("fairdoor_waitlist_invites_expired_total", "Spots that have ever expired.")
	givenUpDesc  = waitlistDesc("fairdoor_waitlist_invites_undelivered_total", "Invites that have expired because their mail could not be delivered.")

	waitlistDescs = []*prometheus.Desc{entriesDesc, heldDesc, capacityDesc, heldBackDesc, mailsDesc, releasedDesc, acceptedDesc, expiredDesc, givenUpDesc}
)

func waitlistDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"waitlist"}, labels...), nil)
}

func collectWaitlist(to chan<- prometheus.Metric, l Waitlist, n waitlist.Numbers) {
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, append([]string{l.Name()}, labels...)...)
	}
	for _, s := range waitlist.Statuses() {
		tell(entriesDesc, prometheus.GaugeValue, float64(n.Entries[s]), string(s))
	}
	tell(heldDesc, prometheus.GaugeValue, float64(n.Held))
	tell(capacityDesc, prometheus.GaugeValue, float64(l.Settings().Capacity))
	tell(heldBackDesc, prometheus.GaugeValue, oneIf(n.Paused))
	tell(mailsDesc, prometheus.GaugeValue, float64(n.Mails))
	tell(releasedDesc, prometheus.CounterValue, float64(n.Released))
	tell(acceptedDesc, prometheus.CounterValue, float64(n.Accepted))
	tell(expiredDesc, prometheus.CounterValue, float64(n.Expired))
	tell(givenUpDesc, prometheus.CounterValue, float64(n.Undelivered))
}

package estimate

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// numbersLast is how long visitors are told the same numbers, so that what is
// made of them can be kept.
const numbersLast = time.Second

// lineSettles is how long a line has to be there before a wait is told: until
// then nobody knows how many are coming.
const lineSettles = 2 * time.Second

// Estimator makes the estimates of one room at one node. Its methods may be called concurrently.
type Estimator struct {
	slack    time.Duration // how much longer than it is told the store counts sessions
	numbers  atomic.Pointer[Numbers]
	arrivals arrivals // a part below, with its lock
	scores   scores   // a part below, with its lock

	mu      sync.Mutex    // held while the numbers change; taken before those of the parts below
	began   queue.Instant // since when people wait without a break; 0 if nobody does
	heard   bool          // that the store has answered once
	pause   Pause         // as it was then
	since   queue.Instant // since when it is so; 0 where this node does not know
	tempo   tempo
	slowing slowing
}

// New returns an Estimator that has heard of nothing yet. The store counts sessions longer than it
// is told by the slack.
func New(slack time.Duration) *Estimator {
	e := &Estimator{slack: slack}
	e.numbers.Store(&Numbers{})
	return e
}

// Join takes in that somebody joins the line at this node, and says whether so many have that the
// others should hear of it at once.
func (e *Estimator) Join(at queue.Instant) (urgent bool) { return e.arrivals.join(at) }

// Reported takes in that this node reports to the store who joined.
func (e *Estimator) Reported(at queue.Instant) { e.arrivals.report(at) }

// Outlook is what the latest answer to a sync lets expect, before Follow has taken it in. Who joins
// later counts in it, too.
func (e *Estimator) Outlook(v *queue.View, settings *queue.Settings) *Outlook {
	return &Outlook{crowd: e.crowd(v, settings), forecast: newForecast(v, settings, e.slack, e.Numbers().Rate)}
}

// Follow takes in the latest answer to a sync, under the settings in force and while admissions are
// paused or not. It renews the numbers if they are too old or wrong.
func (e *Estimator) Follow(v *queue.View, settings *queue.Settings, paused bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tempo.follow(v, settings)
	e.arrivals.follow(v, settings)
	e.slowing.follow(v)
	if p := pauseOf(settings, paused); p != e.pause {
		if e.heard {
			e.since = v.Now
		}
		e.pause = p
	}
	e.heard = true
	switch {
	case v.Present == 0:
		e.began = 0
	case e.began == 0:
		e.began = v.Now
	}
	if old := e.numbers.Load(); !old.fresh(v) || old.Settings != *settings || old.Paused != paused || old.Stock.Left != v.Stock.Left || old.Stock.Items != v.Stock.Items || old.Stock.Known() != v.Stock.Known() {
		n := e.newNumbers(v, settings, paused)
		e.numbers.Store(n)
		e.arrivals.setPace(n.Nodes, n.Rate)
		e.scores.note(n)
	}
}

// Doubt takes in that the store does not answer: nobody knows what the numbers would be, and no
// wait is told.
func (e *Estimator) Doubt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := *e.numbers.Load()
	n.Failing, n.Incomplete, n.Rate = true, true, 0
	e.numbers.Store(&n)
	e.scores.note(&n)
}

// Numbers returns what visitors are told.
func (e *Estimator) Numbers() *Numbers { return e.numbers.Load() }

// Current returns the numbers by an answer to a sync that was taken in already, rather than those
// that visitors were last told.
func (e *Estimator) Current(v *queue.View, settings *queue.Settings, paused bool) *Numbers {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newNumbers(v, settings, paused)
}

// Judge takes in that a visitor was let in at a moment who had waited for so long.
func (e *Estimator) Judge(at queue.Instant, waited time.Duration) { e.scores.judge(at, waited) }

// Scores says what came of the waits that this node told: by quarter of an hour, for the last day,
// and in all.
func (e *Estimator) Scores() (quarters []Score, total Score) { return e.scores.get() }

// Waits returns how long the visitors had waited whom this node has let in from the line, and what
// those of them were told as they arrived who were told a wait.
func (e *Estimator) Waits() (waited, told waits.Counter) { return e.scores.waits() }

func (e *Estimator) crowd(v *queue.View, settings *queue.Settings) crowd {
	return newCrowd(v, settings, &e.arrivals)
}

// newNumbers are the numbers by a view. The caller holds mu.
func (e *Estimator) newNumbers(v *queue.View, settings *queue.Settings, paused bool) *Numbers {
	crowd := e.crowd(v, settings)
	closed := paused || settings.AdmitsNobody() || settings.SoldOut(v.Stock)
	n := &Numbers{At: v.Now, Settings: *settings, Paused: paused, Stock: v.Stock,
		JustBegan: e.began == 0 || v.Now.Sub(e.began) < lineSettles, Incomplete: v.Incomplete(),
		Factor: v.Factor, OpenToAll: v.OpenToAll && settings.QueueWhen > 0 && !closed && !v.Recovering,
		Active: v.Active, Open: v.Open, Admitted: v.Admitted, Waiting: v.Present, Nodes: len(v.Nodes),
		Pause: pauseOf(settings, paused), Buckets: crowd.buckets, crowd: crowd, Line: LineNumbers{First: v.FirstNumber, Last: v.LastNumber, Preferred: v.Preferred}}
	if n.Pause == e.pause {
		n.PausedSince = e.since
	}
	factors, foreseen := e.slowing.coming(v)
	if !foreseen || closed || v.Incomplete() || e.tempo.stands(v, settings) {
		return n
	}
	n.schedule = e.tempo.schedule(v, settings, e.began, factors)
	n.Rate = n.schedule.rate
	if settings.Method.Draws() {
		n.toldToNewcomers, n.toldToWaiters = n.schedule.waitByDraw(n.Waiting, &newcomersFutures), n.schedule.waitByDraw(n.Waiting, &waitersFutures)
	}
	return n
}

package estimate

import (
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// tempo is what a node measures of how fast a room moves: for how long slots are held, how
// many people come, and how many walk away. It measures what the store tells at each sync,
// so that all nodes find about the same.
type tempo struct {
	last    *queue.View // that was measured
	held    []heldSlots // slots in use, by when they were taken, oldest first
	stay    float64     // for how long a slot is held on average, in minutes; 0 before one has come free
	ended   float64     // slots that have come free, as far as they count in stay
	cold    coldStart
	letIn   queue.Instant
	arrived flow // people who came
	lately  flow // the same, soon forgotten
	walked  flow // people who walked away
	present flow // person-minutes of waiting
	used    flow // slot-minutes of those who are in, while people wait
	open    flow // slot-minutes in which slots were kept for people who wait
}

// heldSlots are slots that were taken at about the same moment.
type heldSlots struct {
	at queue.Instant
	n  int
}

const (
	// flowLasts is over how long people who come and who walk away are measured, and
	// latelyLasts over how long those who come are measured besides, so that the end of a
	// crowd shows at once.
	flowLasts   = 3 * time.Minute
	latelyLasts = 20 * time.Second
	// fewPersonMinutes are too few for a share of those who walk away to be told from them.
	fewPersonMinutes = 10
	// heldParts is how finely the moments at which slots were taken are kept, as a part of
	// a session.
	heldParts = 100
)

// flow is a sum that forgets: of what was added at a steady rate for long, it has what
// comes in the time that it lasts.
type flow float64

// fade lets time go by in a flow that lasts so long.
func (f *flow) fade(d, lasts time.Duration) { *f *= flow(math.Exp(-d.Minutes() / lasts.Minutes())) }

// perMinute is the rate of a flow that lasts so long and has been measured since then.
func (f flow) perMinute(lasts, since time.Duration) float64 {
	seen := lasts.Minutes() * (1 - math.Exp(-since.Minutes()/lasts.Minutes()))
	return float64(f) / max(seen, 1e-3)
}

// follow measures a view.
func (t *tempo) follow(v *queue.View, settings *queue.Settings) {
	last := t.last
	switch {
	case last == nil:
		t.last = v
		t.begin(v, settings)
	case !v.Recovering && v.Now > last.Now:
		t.last = v
		t.followPeople(last, v, settings, t.followSlots(last, v, settings))
	}
}

// begin takes the slots that are in use to have been taken evenly over the time for which
// slots are held.
func (t *tempo) begin(v *queue.View, settings *queue.Settings) {
	t.letIn = v.Now
	if v.RateKnown && v.Rate > 0 && v.Active > 0 {
		t.stay, t.ended = float64(v.Active)/v.Rate, float64(v.Active)
		t.cold.over = !settings.Renews() || t.stay >= settings.SessionDuration.Minutes() // else people may have filled an empty room
	}
	stay := t.expectedStay(v.Now, settings)
	for i := range min(v.Active, heldParts) {
		n := v.Active*(i+1)/min(v.Active, heldParts) - v.Active*i/min(v.Active, heldParts)
		t.held = append(t.held, heldSlots{v.Now.Add(-stay + stay*time.Duration(i)/heldParts), n})
	}
}

// followSlots measures the slots that were taken and came free since the last view, and
// returns how many were taken.
func (t *tempo) followSlots(last, v *queue.View, settings *queue.Settings) (admitted int) {
	admitted = v.Admitted
	if last.Now.Floor(queue.AllowancePeriod) == v.Now.Floor(queue.AllowancePeriod) {
		admitted = max(0, v.Admitted-last.Admitted)
	}
	free := last.Active + admitted - v.Active
	if free < 0 { // some were let in just before the minute ended
		admitted, free = admitted-free, 0
	}
	if admitted > 0 {
		t.letIn = v.Now
		t.take(v.Now, admitted, settings)
	}
	t.cold.follow(t.held, last.Now, v.Now, free, v.Active, settings)
	t.release(v.Now, free, v.Active)
	return admitted
}

// take notes that slots were taken.
func (t *tempo) take(at queue.Instant, n int, settings *queue.Settings) {
	if last := len(t.held) - 1; last >= 0 && at.Sub(t.held[last].at) < settings.SessionDuration/heldParts {
		t.held[last].n += n
		return
	}
	t.held = append(t.held, heldSlots{at, n})
}

// release notes that slots have come free, as if those that were taken first did. That does
// not change the mean, which counts the latest sessions most.
func (t *tempo) release(at queue.Instant, free, active int) {
	counts := max(float64(2*active), 20)
	for free > 0 && len(t.held) > 0 {
		first := &t.held[0]
		n := min(free, first.n)
		t.ended = min(t.ended+float64(n), counts)
		t.stay += (at.Sub(first.at).Minutes() - t.stay) * min(1, float64(n)/t.ended)
		free -= n
		if first.n -= n; first.n == 0 {
			t.held = t.held[1:]
		}
	}
}

// expectedStay is for how long a slot is held on average. Before one has come free, it is as long
// as is usual, or longer if somebody has been in for longer.
func (t *tempo) expectedStay(at queue.Instant, settings *queue.Settings) time.Duration {
	stay := t.usual(at, settings)
	if t.ended == 0 && len(t.held) > 0 {
		stay = max(stay, at.Sub(t.held[0].at))
	}
	return stay
}

// guesses reports whether nobody knows yet for how long slots are held: that is a guess until each
// slot has been given on once, on average. Sessions that are not renewed are as long as is
// configured.
func (t *tempo) guesses(settings *queue.Settings) bool {
	return !t.cold.given && !t.cold.over && (settings.Renews() || settings.Occupancy == queue.ByConnection)
}

// usual is for how long slots were held so far on average. Before one has come free, it is
// guessed that people look around for half a session duration before their last request.
func (t *tempo) usual(at queue.Instant, settings *queue.Settings) time.Duration {
	switch {
	case t.ended > 0:
		stay := max(time.Duration(t.stay*float64(time.Minute)), time.Second)
		return t.cold.adjust(stay, at, t.held, t.last.Active, settings)
	case settings.Renews():
		return settings.SessionDuration * 3 / 2
	}
	return settings.SessionDuration
}

// turnover is the time between two admissions to one slot: for how long it is held, and for
// how long it is then kept for somebody whose check-in is still to come.
func (t *tempo) turnover(at queue.Instant, settings *queue.Settings) time.Duration {
	stay := t.expectedStay(at, settings)
	if t.used <= 0 {
		return stay
	}
	return stay + time.Duration(float64(stay)*min(float64(t.open/t.used), 1))
}

// followPeople measures the people who came and who walked away since the last view. In
// the buckets but the newest nobody comes: those who are missing there have walked away, or
// were let in.
func (t *tempo) followPeople(last, v *queue.View, settings *queue.Settings, admitted int) {
	passed := v.Now.Sub(last.Now)
	for _, f := range []*flow{&t.arrived, &t.walked, &t.present, &t.used, &t.open} {
		f.fade(passed, flowLasts)
	}
	t.lately.fade(passed, latelyLasts)
	t.present += flow(float64(v.Present) * passed.Minutes())
	if v.Present > 0 {
		t.used += flow(float64(v.Active) * passed.Minutes())
		t.open += flow(float64(min(v.Open, v.Present)) * passed.Minutes())
	}
	if len(last.Buckets) == 0 || v.Incomplete() || last.Incomplete() {
		t.arrive(float64(v.Present - last.Present + admitted))
		return
	}
	newest := settings.BucketOf(last.Buckets[len(last.Buckets)-1].Bucket, last.Boundaries)
	if newest.Add(settings.LongestBucket()) <= last.Now {
		newest = last.Now // nobody comes there any more, either
	}
	before, all := countBefore(last.Buckets, newest)
	now, _ := countBefore(v.Buckets, newest)
	letIn := float64(admitted)
	if settings.Method.Draws() {
		letIn *= float64(before) / float64(max(all, 1))
	}
	walked := float64(before-now) - letIn
	t.walked += flow(walked)
	t.arrive(float64(v.Present-last.Present+admitted) + walked)
}

// arrive notes that people came.
func (t *tempo) arrive(people float64) {
	t.arrived, t.lately = t.arrived+flow(people), t.lately+flow(people)
}

// countBefore counts the people in the buckets before one, and in all.
func countBefore(buckets []queue.BucketCount, bucket queue.Instant) (before, all int) {
	for _, b := range buckets {
		if b.Bucket < bucket {
			before += b.Waiting
		}
		all += b.Waiting
	}
	return before, all
}

// arrivals is how many people come in a minute, in a line that has been there for so long.
func (t *tempo) arrivals(lasted time.Duration) float64 {
	return max(0, min(t.arrived.perMinute(flowLasts, lasted), t.lately.perMinute(latelyLasts, lasted)))
}

// departures is the share of those who wait who walk away in a minute.
func (t *tempo) departures() float64 {
	return max(0, float64(t.walked)/(float64(t.present)+fewPersonMinutes))
}

// stands reports whether nobody has been let in for so long that nobody knows when somebody
// will be.
func (t *tempo) stands(v *queue.View, settings *queue.Settings) bool {
	return v.Now.Sub(t.letIn) > max(queue.Lull*time.Minute, 2*t.usual(v.Now, settings))
}

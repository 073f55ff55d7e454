package simulate

import (
	"iter"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// Result is what became of a crowd. Its JSON has the fields as tagged here;
// times are in seconds where the name says so, shares from 0 to 1.
type Result struct {
	Method queue.Method `json:"method"`
	People People       `json:"people"`

	// LastedSeconds is from the first moment until the last person was through.
	LastedSeconds float64 `json:"lasted_seconds"`

	Wait   Percentiles `json:"wait"`
	Limits Limits      `json:"limits"`
	Slots  Slots       `json:"slots"`
	Order  Order       `json:"order"`

	Draw     *Draw `json:"draw,omitempty"`     // random only
	Spammers *Spam `json:"spammers,omitempty"` // where some competed with polite people

	ToldAtFirst Accuracy `json:"told_at_first"` // of the first answer to each who waited
	ToldLater   Accuracy `json:"told_later"`    // of all answers

	// Score is what the gates that are left say themselves of the waits that they told at first.
	Score estimate.Score `json:"-"`

	Places *PlacesShown `json:"places,omitempty"` // where the people ahead were shown

	Sharing *Sharing `json:"sharing,omitempty"` // of a store that nodes share

	Origin *Origin `json:"origin,omitempty"` // of one that gets slow with too many people

	// Visits are those of all who came, in that order.
	Visits []Visit `json:"-"`
}

// People counts the crowd.
type People struct {
	Visitors      int `json:"visitors"`       // all who came
	People        int `json:"people"`         // of those, who keep their tickets; the following are of them
	Admitted      int `json:"admitted"`       // were let in
	GaveUp        int `json:"gave_up"`        // lost patience first
	Rejected      int `json:"rejected"`       // were turned away
	Interrupted   int `json:"interrupted"`    // were let in, and lost the session between two page views
	Requests      int `json:"requests"`       // by all
	BotRequests   int `json:"bot_requests"`   // by bots
	BotAdmissions int `json:"bot_admissions"` // requests of bots that were let in
	Strays        int `json:"strays"`         // requests of clients without cookies that ask once
	StraysLetIn   int `json:"strays_let_in"`  // of those

	// Uncounted are admissions of all kinds while the room was open to all, or beyond what a
	// passthrough room counts.
	Uncounted int `json:"uncounted,omitempty"`
}

// Percentiles are those of people's waits, by the nearest rank.
type Percentiles struct {
	P5  float64 `json:"p5_seconds"`
	P25 float64 `json:"p25_seconds"`
	P50 float64 `json:"p50_seconds"`
	P75 float64 `json:"p75_seconds"`
	P95 float64 `json:"p95_seconds"`
	P99 float64 `json:"p99_seconds"`
	Max float64 `json:"max_seconds"`
}

// Limits compares the room's limits with what reached the origin.
type Limits struct {
	MostActive    int `json:"most_active"`     // ids at a time
	MostPerMinute int `json:"most_per_minute"` // admissions in a calendar minute
	OverActive    int `json:"over_active"`     // by how much MostActive was over its limit
	OverPerMinute int `json:"over_per_minute"` // by how much MostPerMinute was
	OutOfTurn     int `json:"out_of_turn"`     // admissions that took a slot from someone ahead by the room's rule
}

// Slots says what was made of the slots while people waited.
type Slots struct {
	UsedShare   float64 `json:"used_share"`   // of the slot-time that could have been used
	PeopleShare float64 `json:"people_share"` // of all slot-time that was used; the rest was held for strays
	LapsedShare float64 `json:"lapsed_share"` // of the minutes' allowances, where those held people up

	// How an allowance was released, and which share of those who waited was let in in each quarter of
	// a calendar minute.
	Pacing    queue.Pacing `json:"pacing"`
	ByQuarter [4]float64   `json:"let_in_by_quarter_minute"`

	// How long a slot was open, with somebody waiting for it, until it was taken.
	IdleP50 float64 `json:"idle_p50_seconds"`
	IdleP95 float64 `json:"idle_p95_seconds"`
	IdleMax float64 `json:"idle_max_seconds"`
}

// Order is the normalised Kendall tau between arrival and admission: 1 in
// perfect order, 0 in none, -1 in the opposite.
type Order struct {
	Tau        float64 `json:"tau"`
	TauBuckets float64 `json:"tau_buckets"` // of people of different buckets, of a minute if the room cuts them finely

	// MostOvertaken is how many people who had come before somebody still waited when that one was
	// let in, at most, and OvertakenSeconds how long the admission of so many takes on the average.
	MostOvertaken    int     `json:"most_overtaken"`
	OvertakenSeconds float64 `json:"overtaken_seconds"`

	// AdmittedPerMinute is how many were let in from the line in a minute in which people waited,
	// on the average, and MostPerSecond how many were within a second, at most.
	AdmittedPerMinute float64 `json:"admitted_per_minute"`
	MostPerSecond     int     `json:"most_per_second"`
}

// Draw is a test of whether those who waited had the same chance whenever they
// had come: a log-rank test over 30 cohorts of arrival, in windows of a minute,
// with the correction for drawing without replacement.
type Draw struct {
	Winners   int     `json:"winners"` // in the test
	ChiSquare float64 `json:"chi_square"`
	Freedom   int     `json:"degrees_of_freedom"`
	P         float64 `json:"p"` // how likely so large a value is by chance

	// WinRates has the people let in over those expected, for each cohort that
	// had people waiting.
	WinRates []float64 `json:"win_rates"`
}

// Spam compares spammers with polite people who came and waited when they did.
type Spam struct {
	Admitted  int     `json:"admitted"`   // spammers in the comparison
	OddsRatio float64 `json:"odds_ratio"` // of being let in, in a minute; above 1 where it pays
	P         float64 `json:"p"`          // how likely so large a difference, either way, is by chance
}

// Accuracy compares the waits that were shown with what happened.
type Accuracy struct {
	Shown              int     `json:"shown"`                // answers with a wait
	Unknown            int     `json:"unknown"`              // answers that said nothing is known
	Outdated           int     `json:"outdated,omitempty"`   // answers from before the last change of settings, which the rest leaves out
	MedianErrorMinutes float64 `json:"median_error_minutes"` // either way
	BiasMinutes        float64 `json:"bias_minutes"`         // mean of shown minus actual; rounding up makes half a minute
	ErrorShare         float64 `json:"error_share"`          // median error over the wait, both in whole minutes
	BiasShare          float64 `json:"bias_share"`           // mean of shown minus actual, over the mean of actual, both in whole minutes
	InTime             float64 `json:"in_time"`              // share let in no later than shown
	Sooner             float64 `json:"-"`                    // share let in a whole minute sooner than shown, or more
	Range              *Range  `json:"range,omitempty"`      // random only
}

// PlacesShown compares the people ahead that were shown with those who left the line before the
// visitor from then on: everybody who was let in, and those who had come earlier and gave up.
// Errors are in seconds of admissions.
type PlacesShown struct {
	Shown          int     `json:"shown"`            // answers with a number of people ahead, to visitors who were let in
	Unknown        int     `json:"unknown"`          // answers without
	Within10s      float64 `json:"within_10s"`       // share of those shown
	FirstWithin10s float64 `json:"first_within_10s"` // share of the first ones to each visitor
	ErrorP50       float64 `json:"error_p50_seconds"`
	ErrorP95       float64 `json:"error_p95_seconds"`
	WronglyFirst   int     `json:"wrongly_first"`     // answers that told somebody that nobody was ahead, when somebody who came earlier was waiting
	Rose           int     `json:"rose"`              // answers that put somebody further back than the one before
	MostRose       float64 `json:"most_rose_seconds"` // by how much, at most
}

// Range says how often the ranges that were shown came true; with a perfect
// forecast, a quarter, half, three quarters, and half or somewhat more, for the
// minutes are whole.
type Range struct {
	By25   float64 `json:"by_25"`
	By50   float64 `json:"by_50"`
	By75   float64 `json:"by_75"`
	Within float64 `json:"within_25_75"`
}

func (r *run) result() *Result {
	r.people.Strays, r.people.StraysLetIn = r.strays.requests, r.strays.admissions
	res := &Result{
		Method: r.settings.Method, People: r.people, LastedSeconds: r.now.Sub(start).Seconds(),
		Wait: waitPercentiles(r.admissions(), r.people.Admitted), Limits: r.limits.result(), Slots: r.slots.result(),
		Order: r.order(), Visits: r.visits,
		ToldAtFirst: r.promises.outcome.first.accuracy(r.settings.Method),
		ToldLater:   r.promises.outcome.later.accuracy(r.settings.Method),
	}
	res.Slots.Pacing, res.Slots.ByQuarter = r.settings.PacingInForce(), r.pace.byQuarter()
	if r.slots.heldTime > 0 {
		res.Slots.PeopleShare = 1 - min(1, r.strays.held.Seconds()/r.slots.heldTime)
	}
	for _, n := range r.nodes.list {
		if n != nil {
			_, score := n.room.Scores()
			res.Score.Add(score)
		}
	}
	res.Order.MostOvertaken = r.overtaking.Most
	res.Order.MostPerSecond = r.pace.most
	res.Order.AdmittedPerMinute = r.pace.perSecond() * time.Minute.Seconds()
	res.Order.OvertakenSeconds = float64(r.overtaking.Most) / r.pace.perSecond()
	res.Sharing, res.Places = r.sharing(), r.places.result(r.pace.perSecond())
	res.Origin = r.site.result()
	res.Limits.OutOfTurn = r.turns.outOfTurn
	if r.settings.Method.Draws() {
		res.Draw = r.draw.result()
	}
	if ratio, known := r.draw.odds.ratio(); known {
		res.Spammers = &Spam{Admitted: r.draw.odds.spammers, OddsRatio: ratio, P: r.draw.odds.test()}
	}
	return res
}

func waitPercentiles(admissions iter.Seq[Visit], people int) Percentiles {
	waits := make([]time.Duration, 0, people)
	for a := range admissions {
		waits = append(waits, a.Waited)
	}
	slices.Sort(waits)
	at := func(p float64) float64 { return measure.Percentile(waits, p).Seconds() }
	return Percentiles{P5: at(.05), P25: at(.25), P50: at(.5), P75: at(.75), P95: at(.95), P99: at(.99), Max: at(1)}
}

func (l *limits) result() Limits {
	res := Limits{MostActive: l.seen.MostActive, MostPerMinute: l.seen.MostPerMinute}
	if !l.settings.Method.EveryoneEnters() {
		res.OverActive, res.OverPerMinute = l.overActive, l.overMinute
	}
	return res
}

func (s *slots) result() Slots {
	slices.Sort(s.runs)
	at := func(p float64) float64 { return measure.Percentile(s.runs, p).Seconds() }
	res := Slots{UsedShare: 1, IdleP50: at(.5), IdleP95: at(.95), IdleMax: at(1)}
	if all := s.usedTime + s.idleTime; all > 0 {
		res.UsedShare = s.usedTime / all
	}
	res.LapsedShare = float64(s.lapsed) / float64(max(1, s.lapsed+s.taken))
	return res
}

func (r *run) order() Order {
	pairs := make([]measure.Pair, 0, r.people.Admitted)
	for a := range r.admissions() {
		pairs = append(pairs, measure.Pair{X: int64(a.Arrived / time.Millisecond), Y: int64(a.at)})
	}
	tau := measure.Kendall(pairs)
	for i := range pairs {
		bucket := r.origin() + queue.Instant(pairs[i].X)
		pairs[i].X = int64(bucket.Floor(r.settings.LongestBucket()))
	}
	return Order{Tau: tau, TauBuckets: measure.Kendall(pairs)}
}

func (d *draw) result() *Draw {
	res := &Draw{Winners: d.winners, WinRates: make([]float64, 0, cohorts)}
	res.ChiSquare, res.Freedom, res.P = d.test()
	for i := range cohorts {
		if d.expected[i] > 0 {
			res.WinRates = append(res.WinRates, d.letIn[i]/d.expected[i])
		}
	}
	return res
}

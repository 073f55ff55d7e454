package estimate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// schedule is when a room is expected to let in its next visitors, one after another.
//
// The n-th of them gets a slot when the visitor who was let in total_active_users before
// has left it. Those who are in now leave in the order in which they came, each after the
// mean time for which slots are held. Besides, new_users_per_minute holds them up. So a
// schedule follows a change of limits at once, and the waves in which a room that was empty
// lets people in. Over many visitors it is the rate. It is for waits of minutes; see forecast for
// the next seconds.
type schedule struct {
	rate      float64 // admissions per minute; 0 if none can be
	total     int
	perMinute int
	stay      time.Duration
	guessed   bool        // nobody knows yet for how long slots are held
	taken     []heldUntil // the slots in use, oldest first
	allowance int         // that is left of this calendar minute
	next      time.Duration
	evenly    bool // the allowance is released bit by bit
	slowed    slowedRelease

	arrivals   float64 // people who come in a minute
	departures float64 // share of those who wait that walks away in a minute
	lasted     float64 // minutes since when people wait
}

// heldUntil says how many slots were taken up to a moment, counted from the oldest on.
type heldUntil struct {
	ago   time.Duration
	count int
}

func (t *tempo) schedule(v *queue.View, settings *queue.Settings, began queue.Instant, factors []float64) schedule {
	stay := t.turnover(v.Now, settings)
	perMinute, slowed := settings.Allowance(), newSlowedRelease(settings.Allowance(), factors)
	if len(slowed) > 0 {
		perMinute = slowed.perMinute()
	}
	s := schedule{
		total: settings.Slots(), perMinute: perMinute, stay: stay, guessed: t.guesses(settings),
		taken:      make([]heldUntil, 0, len(t.held)),
		allowance:  max(0, perMinute-v.Admitted),
		next:       v.Now.Floor(queue.AllowancePeriod).Add(queue.AllowancePeriod).Sub(v.Now),
		evenly:     settings.PacingInForce() == queue.PacingEven || settings.PacingInForce() == queue.PacingRandom,
		slowed:     slowed,
		departures: t.departures(),
	}
	if began != 0 {
		s.lasted, s.arrivals = v.Now.Sub(began).Minutes(), t.arrivals(v.Now.Sub(began))
	}
	count := 0
	for _, h := range t.held {
		count += h.n
		s.taken = append(s.taken, heldUntil{v.Now.Sub(h.at), count})
	}
	s.rate = min(float64(s.perMinute), float64(s.total)/stay.Minutes())
	return s
}

// admission is in how many minutes somebody is let in after so many others.
func (s *schedule) admission(people float64) float64 {
	switch {
	case s.rate <= 0:
		return math.Inf(1)
	case s.total == 0:
		return people / s.rate
	}
	return max(s.bySlots(people), s.byAllowance(people), 0)
}

// bySlots is the admission as total_active_users allows it.
func (s *schedule) bySlots(people float64) float64 {
	rounds := math.Floor(people/float64(s.total)) + 1
	before := int(math.Ceil(rounds*float64(s.total) - people)) // visitors let in before now whose slot it is, counted from the latest
	active := 0
	if len(s.taken) > 0 {
		active = s.taken[len(s.taken)-1].count
	}
	if before > active {
		return (rounds - 1) * s.stay.Minutes()
	}
	i, _ := slices.BinarySearchFunc(s.taken, active-before+1, func(h heldUntil, count int) int { return cmp.Compare(h.count, count) })
	ago := s.taken[min(i, len(s.taken)-1)].ago
	return (rounds-1)*s.stay.Minutes() + max(0, s.stay-ago).Minutes()
}

// byAllowance is the admission as new_users_per_minute allows it.
func (s *schedule) byAllowance(people float64) float64 {
	switch beyond := people - float64(s.allowance); {
	case len(s.slowed) > 0:
		return s.slowed.after(people)
	case s.evenly:
		return people / float64(s.perMinute)
	case beyond < 0:
		return 0
	default:
		return s.next.Minutes() + math.Floor(beyond/float64(s.perMinute))
	}
}

// guessedWithin is how many times as long as is guessed slots may be held: a wait is known if these
// would not make it longer.
const guessedWithin = 4

// guesses reports whether a guess decides when somebody is let in after so many others.
func (s *schedule) guesses(people float64) bool {
	if !s.guessed {
		return false
	}
	longer := *s
	longer.stay *= guessedWithin
	return longer.bySlots(people) > s.byAllowance(people)
}

// wait is that of somebody who is let in after so many others.
func (s *schedule) wait(people float64) Wait {
	if s.guesses(people) {
		return Wait{}
	}
	return Wait{Known: true, Minutes: wholeMinutes(s.admission(people))}
}

// inOrder is the wait of somebody who has so many people ahead, of whom some walk away.
func (s *schedule) inOrder(ahead float64) Wait { return s.wait(s.staying(ahead)) }

// staying is how many of so many people do not walk away before it is their turn.
func (s *schedule) staying(ahead float64) float64 {
	stay := ahead
	for range 2 {
		if leave := s.walkAway(stay/s.rate) * ahead / s.rate; leave > 1e-3 {
			stay = ahead * math.Log1p(leave) / leave
		}
	}
	return stay
}

// walkAwayAt is the share of those who wait that walks away in a minute, so many minutes from
// now. Those who lose patience do so early: the longer a line has waited, the more of those
// who are left stay.
func (s *schedule) walkAwayAt(minutes float64) float64 {
	if s.departures == 0 || s.lasted <= 0 {
		return s.departures
	}
	return s.departures * s.lasted / (s.lasted + minutes)
}

// walkAway is the mean of walkAwayAt over so many minutes from now.
func (s *schedule) walkAway(minutes float64) float64 {
	if s.departures == 0 || s.lasted <= 0 || minutes <= 0 {
		return s.departures
	}
	return s.departures * s.lasted / minutes * math.Log1p(minutes/s.lasted)
}

// futures are for how much longer a crowd may go on coming, as parts of the time for which it has
// come so far: each as likely as the others. Nobody knows. Of those who come, one in 1 + x sees the
// crowd go on for more than x times as long, if it comes evenly. Those who have come wait on when
// nobody comes any more, so that fewer of their answers are followed by many newcomers. With these
// powers of 1/(1+x) the told waits of crowds of many shapes come true as often as they should.
var (
	newcomersFutures = futuresBy(1.3)
	waitersFutures   = futuresBy(2.5)
)

type futures [10]float64

func futuresBy(power float64) (f futures) {
	for i := range f {
		f[i] = math.Pow((float64(i)+.5)/float64(len(f)), -1/power) - 1
	}
	return f
}

// future is one of the futures, as it has come to be so many minutes from now.
type future struct {
	comes    float64 // people go on coming for so many minutes
	minutes  float64
	n, stays float64 // who wait, and which part of those who wait now is still there
}

// goOn lets time pass in a future.
func (s *schedule) goOn(f *future, minutes float64) {
	const step = .05 // of the chances
	for f.minutes < minutes && f.n > .5 {
		d, change := min(minutes-f.minutes, step*f.n/s.rate), -s.rate-s.walkAwayAt(f.minutes)*f.n
		if f.minutes < f.comes {
			d, change = min(d, f.comes-f.minutes), change+s.arrivals
		}
		f.stays *= math.Exp(-d * s.rate / max(f.n+d*change/2, .5))
		f.n, f.minutes = f.n+d*change, f.minutes+d
	}
	if f.n <= .5 {
		f.stays = 0
	}
}

// byDraw is after how many admissions each part of those who wait, and stay, has been let in, where
// all have the same chance. The parts grow.
func (s *schedule) byDraw(waiting int, f *futures, parts ...float64) []float64 {
	const step = .02
	n := math.Max(float64(waiting), 1)
	var ahead [len(f)]future
	for i, x := range f {
		ahead[i] = future{comes: s.lasted * x, n: n, stays: 1}
	}
	minutes, stayed, list := 0., 1., make([]float64, 0, len(parts))
	for len(list) < len(parts) {
		d, stay := step*max(n/s.rate, minutes), 0.
		for i := range ahead {
			s.goOn(&ahead[i], minutes+d)
			stay += ahead[i].stays / float64(len(ahead))
		}
		for len(list) < len(parts) && (stay <= 1-parts[len(list)] || minutes >= longestWait) {
			by := minutes + d*min(1, (stayed-1+parts[len(list)])/max(stayed-stay, 1e-9))
			list = append(list, by*s.rate)
		}
		minutes, stayed = minutes+d, stay
	}
	return list
}

// waitByDraw is the wait where every check-in is a draw, with so many people waiting and those
// futures.
func (s *schedule) waitByDraw(waiting int, f *futures) Wait {
	by := s.byDraw(waiting, f, .25, .5, .75)
	p25, p50, p75 := s.wait(by[0]), s.wait(by[1]), s.wait(by[2])
	if !p75.Known {
		return Wait{}
	}
	return Wait{Known: true, Minutes: p50.Minutes, P25: p25.Minutes, P50: p50.Minutes, P75: p75.Minutes}
}

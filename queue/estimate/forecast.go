package estimate

import (
	"sort"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pacing"
)

// forecastSeconds is how far a forecast looks ahead second by second: beyond the next
// calendar minute.
const forecastSeconds = 75

// forecastLasts is how long a forecast holds: some syncs.
const forecastLasts = 5 * time.Second

// forecast is when slots will open, by the answer to a sync: if sessions end as the store
// expects, and whoever is next in line takes each slot at once.
//
// It is not the schedule, by which waits are told. The forecast is for those who are next: it
// goes second by second, by the sessions whose ends the store has, and is early rather than
// late. People renew their sessions, so over minutes it would be wrong: the schedule goes by
// how long slots were held on average. After its last second the forecast goes by the rate of
// the schedule.
type forecast struct {
	at     queue.Instant            // of the answer; 0 for no forecast
	opened [forecastSeconds + 1]int // how many slots open within so many seconds, those that are open already among them
	later  float64                  // how many a second open after that
	lasts  bool                     // seats last for as long as their connections: nobody knows when they end
}

func newForecast(v *queue.View, settings *queue.Settings, slack time.Duration, rate float64) forecast {
	if v.Incomplete() || settings.AdmitsNobody() || !settings.Method.KeepsOrder() {
		return forecast{}
	}
	f := forecast{at: v.Now, later: rate / time.Minute.Seconds(), lasts: settings.Occupancy != queue.BySession}
	taken, admitted, minute := 0, v.Admitted, v.Now.Floor(queue.AllowancePeriod)
	for k := range f.opened {
		at := v.Now.Add(time.Duration(k) * time.Second)
		if m := at.Floor(queue.AllowancePeriod); m != minute {
			minute, admitted = m, 0
		}
		free := settings.Slots() - v.Active + f.ended(v, settings, slack, k) - taken
		next := max(0, min(free, pacing.Expected(settings, at)-admitted))
		if v.Factor > 0 && v.Factor < 1 {
			released := v.Open + int(float64(k)*queue.Slowed(settings.Allowance(), v.Factor)/time.Minute.Seconds())
			next = min(next, max(0, released-taken))
		}
		if k == 0 {
			next = v.Open
		}
		taken, admitted = taken+next, admitted+next
		f.opened[k] = taken
	}
	return f
}

// ended is how many sessions end within so many seconds. Of those that end within one of
// EndSteps nobody knows when: the forecast has them end early in it, so that nobody comes
// too late. Later on, sessions end that begin only now.
func (f *forecast) ended(v *queue.View, settings *queue.Settings, slack time.Duration, seconds int) int {
	switch {
	case seconds == 0:
		return 0
	case f.lasts:
		return int(f.later * float64(seconds))
	}
	i := sort.Search(len(v.Ends), func(i int) bool { return queue.EndSteps[i] >= time.Duration(seconds)*time.Second })
	last := len(v.Ends) - 1
	lasts := int((settings.SessionLasts(slack) + time.Second - 1) / time.Second)
	switch {
	case lasts < seconds && time.Duration(lasts)*time.Second < queue.EndSteps[last]:
		return v.Ends[min(i, last)] + f.opened[seconds-lasts]
	case i <= last:
		return v.Ends[i]
	}
	return v.Ends[last] + int(f.later*(float64(seconds)-queue.EndSteps[last].Seconds()))
}

// openedBy is how many slots have opened by a moment, counted from the answer on; 0 if nobody
// knows.
func (f *forecast) openedBy(at queue.Instant) int {
	if !f.fresh(at) || at < f.at {
		return 0
	}
	return f.opened[min(len(f.opened)-1, 1+int(at.Sub(f.at)/time.Second))]
}

// fresh reports whether a forecast holds at a moment. Nobody comes by one that is old:
// while the store does not answer, slots seem to open that nobody is given.
func (f *forecast) fresh(at queue.Instant) bool { return f.at != 0 && at.Sub(f.at) < forecastLasts }

// opensAt is when a slot opens for a visitor with so many people ahead, as is known at a
// moment; false if nobody knows.
func (f *forecast) opensAt(at queue.Instant, ahead float64) (queue.Instant, bool) {
	if !f.fresh(at) {
		return 0, false
	}
	second := func(s float64) queue.Instant { return f.at + queue.Instant(s*1000) }
	k := sort.Search(len(f.opened), func(k int) bool { return float64(f.opened[k]) > ahead })
	switch {
	case k == 0:
		return f.at, true
	case k < len(f.opened):
		before, by := float64(f.opened[k-1]), float64(f.opened[k])
		return second(float64(k-1) + min(1, max(0, ahead+1-before)/(by-before))), true
	case f.later <= 0:
		return 0, false
	}
	last := len(f.opened) - 1
	return second(float64(last) + (ahead+1-float64(f.opened[last]))/f.later), true
}

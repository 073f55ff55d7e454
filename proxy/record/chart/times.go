package chart

import (
	"fmt"
	"time"
)

// steps are the distances of the times on an axis, but for whole days.
var steps = [...]time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

const day = 24 * time.Hour

// stepOf is the least step of which a time has fewer than most.
func stepOf(span time.Duration, most int) time.Duration {
	for _, s := range steps {
		if span/s < time.Duration(most) {
			return s
		}
	}
	return (span/day/time.Duration(most) + 1) * day
}

// x is where a moment is drawn.
func (l *Lines) x(c *canvas, at time.Time) float64 {
	share := at.Sub(l.From).Seconds() / l.To.Sub(l.From).Seconds()
	return left + c.plotWidth()*min(max(share, 0), 1)
}

// times draws the axis of time, in local times: hours and minutes of up to a day and a half, else
// days.
func (l *Lines) times(c *canvas) {
	span := l.To.Sub(l.From)
	step, layout := stepOf(span, int(c.plotWidth())/58), "15:04"
	if span > day*3/2 {
		step, layout = max(step, day), "2 Jan"
	}
	for _, at := range roundTimes(l.From.In(l.Zone), l.To, step) {
		x := l.x(c, at)
		fmt.Fprintf(c, `<path class="grid" d="M%s %dv5" stroke="currentColor" stroke-opacity=".5"/>`, number(x), c.height-bottom)
		fmt.Fprintf(c, `<text class="tick" data-at="%d" x="%s" y="%d" text-anchor="middle">%s</text>`,
			at.UnixMilli(), number(min(max(x, left-8), float64(c.width-right-8))), c.height-6, at.Format(layout))
	}
}

// roundTimes are the multiples of a step after local midnight. On a day on which clocks change,
// they are by the clock on the wall.
func roundTimes(from, to time.Time, step time.Duration) []time.Time {
	var times []time.Time
	y, m, d := from.Date()
	for past := time.Duration(0); ; past += step {
		at := time.Date(y, m, d, int(past/time.Hour), int(past%time.Hour/time.Minute), 0, 0, from.Location())
		if at.After(to) {
			return times
		}
		if !at.Before(from) && (len(times) == 0 || at.After(times[len(times)-1])) {
			times = append(times, at)
		}
	}
}

// clock writes a moment of the axis.
func (l *Lines) clock(at time.Time) string {
	if l.To.Sub(l.From) > day {
		return at.In(l.Zone).Format("2 Jan 15:04")
	}
	return at.In(l.Zone).Format("15:04")
}

package queue

import "time"

// Instant is a moment by the store's clock, in milliseconds since the Unix
// epoch. The zero Instant stands for "none".
type Instant int64

// At returns t as an Instant, rounded down to the millisecond.
func At(t time.Time) Instant { return Instant(t.UnixMilli()) }

// Time returns i as a time in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// Add returns i moved by d, which counts in whole milliseconds.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d/time.Millisecond) }

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Millisecond }

// Floor returns i rounded down to a multiple of d since the epoch; a d below a
// millisecond leaves i as it is.
func (i Instant) Floor(d time.Duration) Instant {
	step := Instant(d / time.Millisecond)
	if step <= 1 {
		return i
	}
	return i - i%step
}

// Ceil returns i rounded up to a multiple of d since the epoch.
func (i Instant) Ceil(d time.Duration) Instant {
	floor := i.Floor(d)
	if floor == i {
		return i
	}
	return floor.Add(d)
}

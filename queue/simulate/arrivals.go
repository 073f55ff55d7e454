package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Arrivals is how a crowd spreads over time.
type Arrivals uint8

// The patterns; the zero value is Uniform.
const (
	Uniform  Arrivals = iota // each at any moment alike
	Poisson                  // one after another, with exponential gaps; the last may come late
	Burst                    // all in the first hundredth of the time
	Spike                    // half of them at any moment, half in a thirtieth of the time in its middle
	Ramp                     // ever more: from none to twice the mean
	Recorded                 // as Config.Stays has them
)

var arrivalNames = []string{"uniform", "poisson", "burst", "spike", "ramp", "recorded"}

// String returns the pattern's name.
func (a Arrivals) String() string {
	if int(a) < len(arrivalNames) {
		return arrivalNames[a]
	}
	return fmt.Sprintf("unknown(%d)", a)
}

// MarshalText returns the pattern's name.
func (a Arrivals) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText accepts the names that String returns.
func (a *Arrivals) UnmarshalText(text []byte) error {
	i := slices.Index(arrivalNames, string(text))
	if i < 0 {
		return fmt.Errorf("unknown arrival pattern %q: want one of %v", text, arrivalNames[:Recorded])
	}
	*a = Arrivals(i)
	return nil
}

// draw returns when n visitors come, from 0 on, in order.
func (a Arrivals) draw(n int, over time.Duration, rng *rand.Rand) []time.Duration {
	at := make([]time.Duration, n)
	sum := 0.0
	for i := range at {
		u := rng.Float64() // the moment, as a part of the time
		switch a {
		case Poisson:
			sum += rng.ExpFloat64() / float64(n)
			u = sum
		case Burst:
			u /= 100
		case Spike:
			if i%2 == 1 {
				u = .5 + (u-.5)/30
			}
		case Ramp:
			u = math.Sqrt(u)
		default:
		}
		at[i] = time.Duration(u * float64(over)).Truncate(time.Millisecond)
	}
	slices.Sort(at)
	return at
}

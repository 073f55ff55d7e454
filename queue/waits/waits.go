// Package waits counts waits by how long they were, in a table of fixed size: what is read
// from it is exact below half a minute, and to within 3 % of the wait above.
package waits

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// The table has a row for each second below twice parts, and from there on as many rows as
// parts between a power of two and the next, up to the longest wait that is told apart.
const (
	parts     = 16
	partsBits = 4 // parts is 1<<partsBits
	octaves   = 16
	rows      = parts * octaves // up to 2^19 seconds, six days
)

// Counter counts waits. The zero Counter has counted none. It guards itself no more than an
// array does.
type Counter [rows]uint32

// Add counts a wait.
func (c *Counter) Add(wait time.Duration) { c[rowOf(int(wait/time.Second))]++ }

// Plus adds what another has counted.
func (c *Counter) Plus(other *Counter) {
	for i, n := range other {
		c[i] += n
	}
}

// Since returns what c has counted since it was as before.
func (c *Counter) Since(before *Counter) Counts {
	var list Counts
	for i, n := range c {
		if n > before[i] {
			list = append(list, Count{Seconds: secondsOf(i), Visitors: int(n - before[i])})
		}
	}
	return list
}

// rowOf is the row of a wait.
func rowOf(seconds int) int {
	if seconds < 2*parts {
		return max(seconds, 0)
	}
	octave := bits.Len(uint(seconds)) - 1 - partsBits // so that seconds>>octave is from parts to twice parts
	return min(parts*octave+seconds>>octave, rows-1)
}

// secondsOf is the wait in the middle of a row, in whole seconds.
func secondsOf(row int) int {
	if row < 2*parts {
		return row
	}
	octave := row/parts - 1
	return (row-parts*octave)<<octave + 1<<octave/2
}

// Count is how many visitors had a wait of about so many seconds.
type Count struct {
	Seconds  int `json:"seconds"`
	Visitors int `json:"visitors"`
}

// Counts are the waits that a Counter has counted, the shortest first, each once.
type Counts []Count

// Visitors returns how many were counted.
func (c Counts) Visitors() int {
	sum := 0
	for _, n := range c {
		sum += n.Visitors
	}
	return sum
}

// Percentile returns the least of the waits that a share of the visitors did not exceed; 0 if
// nobody was counted. The share is from 0 to 1.
func (c Counts) Percentile(share float64) time.Duration {
	left := max(1, int(math.Ceil(share*float64(c.Visitors())-1e-9)))
	for _, n := range c {
		if left -= n.Visitors; left <= 0 {
			return time.Duration(n.Seconds) * time.Second
		}
	}
	return 0
}

// Longest returns the longest of the waits; 0 if nobody was counted.
func (c Counts) Longest() time.Duration { return c.Percentile(1) }

// Plus returns the visitors of both.
func (c Counts) Plus(other Counts) Counts {
	if len(other) == 0 {
		return c
	}
	sum := slices.Concat(c, other)
	slices.SortFunc(sum, func(a, b Count) int { return a.Seconds - b.Seconds })
	last := 0
	for _, n := range sum[1:] {
		if n.Seconds == sum[last].Seconds {
			sum[last].Visitors += n.Visitors
			continue
		}
		last++
		sum[last] = n
	}
	return sum[:last+1]
}

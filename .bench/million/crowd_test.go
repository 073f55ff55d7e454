package million_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// What people do who do not simply wait.
const (
	giveUp   = .10              // the part that gives up
	patience = 15 * time.Minute // how long these wait on average
	goodbyes = .7               // the part of these whose browser says so
	phones   = .20              // the part that waits with a phone, which locks once
	lockedIn = 25 * time.Minute // by when
	leastOff = time.Minute      // for how long it is locked at least
	mostOff  = 6 * time.Minute  // and at most
	pages    = 5                // that somebody looks at who is in
	reading  = 20 * time.Second // how long they do before the next on average
	nobody   = -1

	// networkTakes is how much later than told a request comes at most, in milliseconds.
	networkTakes = 200
)

// phase is how far a visitor has come.
type phase uint8

const (
	outside phase = iota
	waiting
	inside
	gone
)

// visitor is somebody of the crowd. Moments are milliseconds after the beginning. It has no pointers,
// so that the garbage collector never looks at the crowd.
type visitor struct {
	ticket [232]byte // name=value
	length uint8
	phase  phase
	pages  uint8 // left to look at

	absent  bool // their check-in is overdue
	goodbye bool
	next    int32 // who comes at the same moment
	comes   int32 // their next moment, or that of their absence
	arrives int32
	due     int32 // when their next check-in is due, by what they were told
	asked   int32 // when they asked last
	told    int32 // the interval that they were told then
	before  int32 // and the one before it
	leaves  int32 // when they give up; 0 for never
	locks   int32 // when their phone locks; 0 for never
	unlocks int32
	left    int32 // when they became absent
	back    int32 // when they came back
	enters  int32 // when they were let in
}

// newCrowd draws a crowd that comes within a time, in the order of its arrival.
func newCrowd(people int, comesWithin time.Duration, rng *rand.Rand) []visitor {
	crowd := make([]visitor, people)
	for i := range crowd {
		v := &crowd[i]
		v.arrives = 1 + int32(float64(i)/float64(people)*float64(comesWithin.Milliseconds()))
		v.comes = v.arrives
		if rng.Float64() < giveUp {
			v.leaves = v.arrives + 1 + int32(min(rng.ExpFloat64()*float64(patience.Milliseconds()), math.MaxInt32/4))
			v.goodbye = rng.Float64() < goodbyes
		} else if rng.Float64() < phones {
			v.locks = v.arrives + 1 + rng.Int32N(int32(lockedIn.Milliseconds()))
			v.unlocks = v.locks + int32(leastOff.Milliseconds()) + rng.Int32N(int32((mostOff - leastOff).Milliseconds()))
		}
	}
	return crowd
}

// address is where visitor i comes from.
func address(i int32) string {
	b := make([]byte, 0, 24)
	b = append(b, "10."...)
	b = strconv.AppendInt(b, int64(i>>16), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(i>>8&255), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(i&255), 10)
	return string(append(b, ":40000"...))
}

// wheel has who comes when, for a day that is as long as it has spokes.
type wheel []int32

const spokes = 1 << 20 // milliseconds: 17 minutes

func newWheel() wheel {
	w := make(wheel, spokes)
	for i := range w {
		w[i] = nobody
	}
	return w
}

// add has visitor i come at a moment.
func (w wheel) add(crowd []visitor, i, at int32) {
	spoke := &w[at%spokes]
	crowd[i].comes, crowd[i].next, *spoke = at, *spoke, i
}

// take hands out those who come at a moment, which may add themselves anew.
func (w wheel) take(crowd []visitor, now int32, yield func(i int32)) {
	spoke := &w[now%spokes]
	i := *spoke
	*spoke = nobody
	for i != nobody {
		next := crowd[i].next
		if crowd[i].comes == now {
			yield(i)
		} else { // on another day
			crowd[i].next, *spoke = *spoke, i
		}
		i = next
	}
}

// line counts those who are present, by arrival: a Fenwick tree.
type line []int32

func (l line) add(i, more int32) {
	for at := int(i) + 1; at < len(l); at += at & -at {
		l[at] += more
	}
}

// ahead is how many are present who arrived before visitor i.
func (l line) ahead(i int32) (people int32) {
	for at := int(i); at > 0; at -= at & -at {
		people += l[at]
	}
	return people
}

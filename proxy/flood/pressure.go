package flood

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Kind is how willingly a request of somebody who has to wait is shed. Those of a kind are shed
// only when all of the kinds before it are.
type Kind int

// The kinds, from those who are shed first.
const (
	Again Kind = iota // has asked too soon, or without a ticket, on the same connection before
	Aside             // asks for what is neither a page nor a check-in: a part of a page, a prefetch, what the gate itself has
	Early             // asks sooner than they were told, or brings no ticket
	Due               // asks when they were told
	kinds
)

// bearing is when those of a kind are shed.
type bearing struct {
	late       time.Duration // how late requests may be
	rise, fall float64       // of the pressure, at a look that finds them later, and at another one
}

// bearable is how much is borne of each kind. Those who ask too soon again and again are shed as
// soon as one look in a hundred finds that requests are late. Others are only when half of all
// looks do, for a second or two: hardly anybody could be answered then.
var bearable = [kinds]bearing{
	Again: {time.Millisecond, .1, .001},
	Aside: {50 * time.Millisecond, .02, .02},
	Early: {100 * time.Millisecond, .02, .02},
	Due:   {300 * time.Millisecond, .02, .02},
}

const (
	// interval is how often the server looks how late it is.
	interval = 20 * time.Millisecond

	// fewest is how many requests a second there are in a flood at least, of the kinds that are
	// shed then. The pressure does not rise where there are fewer: something else is slow then, and
	// shedding would not help.
	fewest = 100

	// crowd is how many requests of these kinds are late at a time in a flood at least, with those
	// that are held. Where fewer wait in front of somebody who is in, shedding them would not help
	// either.
	crowd = 20
)

// pressure is how many kinds are shed: 1.5 is all of the first, and half of the second.
type pressure struct {
	bits  atomic.Uint64       // a float64
	asked [kinds]atomic.Int64 // requests of each kind, since the last look
	rates [kinds]float64      // of them, a second, over the last second or so; of the looks alone
}

// sheds says by lot whether a request is shed.
func (p *pressure) sheds(k Kind) bool {
	p.asked[k].Add(1)
	over := p.now() - float64(k)
	return over > 0 && rand.Float64() < over
}

func (p *pressure) now() float64 { return math.Float64frombits(p.bits.Load()) }

// look takes in how late requests are now, and how many are held, and reports whether there are
// any, or any pressure. It is called every interval, from one goroutine at a time.
func (p *pressure) look(late time.Duration, held int) bool {
	now, limit := p.now(), limitAt(late)
	next := min(int(now), int(Due)) // the kind that is shed next
	asked, rate := int64(0), 0.
	for k := range p.asked {
		n := p.asked[k].Swap(0)
		asked += n
		if p.rates[k] += float64(n) - p.rates[k]*interval.Seconds(); k <= next {
			rate += p.rates[k]
		}
	}
	flood := rate >= fewest && rate*late.Seconds()+float64(held) >= crowd // as many are late as have come in the time by which they are
	if by := bearable[next]; now <= limit && flood {
		now = min(now+by.rise, limit)
	} else {
		now = max(now-by.fall, 0)
	}
	p.bits.Store(math.Float64bits(now))
	return asked > 0 || now > 0
}

// limitAt is the highest pressure that a lateness calls for.
func limitAt(late time.Duration) float64 {
	n := 0
	for n < len(bearable) && late > bearable[n].late {
		n++
	}
	return float64(n)
}

package accesslog

import (
	"cmp"
	"slices"
)

// visit is a visitor's time on the site. Times are in milliseconds since the epoch.
type visit struct {
	visitor     uint64 // a hash
	first, last int64  // requests
}

// visits are those of a log whose lines may come in any order.
type visits struct {
	idle   int64 // a visit is over when there was no request for so long
	all    []visit
	latest map[uint64]int // of each visitor, the visit that was added to last
	joinAt int            // how many visits there have to be before they are joined again
}

// leastJoined is how few visits are not worth joining.
const leastJoined = 1 << 12

func newVisits(idle int64) *visits {
	return &visits{idle: idle, latest: map[uint64]int{}, joinAt: leastJoined}
}

// add adds a request of a visitor.
func (v *visits) add(visitor uint64, at int64) {
	if i, ok := v.latest[visitor]; ok {
		if of := &v.all[i]; at > of.first-v.idle && at < of.last+v.idle {
			of.first, of.last = min(of.first, at), max(of.last, at)
			return
		}
	}
	if len(v.all) >= v.joinAt {
		v.join()
		v.joinAt = max(2*len(v.all), leastJoined)
	}
	v.latest[visitor] = len(v.all)
	v.all = append(v.all, visit{visitor: visitor, first: at, last: at})
}

// join makes one visit of those that belong together, and puts them in the order of visitors.
func (v *visits) join() {
	slices.SortFunc(v.all, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.visitor, b.visitor), cmp.Compare(a.first, b.first))
	})
	joined := v.all[:0]
	for _, next := range v.all {
		if n := len(joined); n > 0 && joined[n-1].visitor == next.visitor && next.first < joined[n-1].last+v.idle {
			joined[n-1].last = max(joined[n-1].last, next.last)
			continue
		}
		joined = append(joined, next)
	}
	v.all = joined
	for i := range v.all {
		v.latest[v.all[i].visitor] = i
	}
}

// visitors is how many there were.
func (v *visits) visitors() int { return len(v.latest) }

// inOrder returns the visits in the order in which they began.
func (v *visits) inOrder() []visit {
	v.join()
	all := slices.Clone(v.all)
	slices.SortFunc(all, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.visitor, b.visitor))
	})
	return all
}

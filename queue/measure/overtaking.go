package measure

import (
	"cmp"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Overtaking measures how many people with an earlier arrival still wait when somebody is
// let in: all who wait by their own account, whether their turn has come or not. It counts
// them by the order of arrival, in a Fenwick tree.
type Overtaking struct {
	Most int // people who had come before somebody and still waited when that one was let in

	rank    []int32 // of each person, by arrival
	waiting tree    // by rank
	letIn   tree    // by rank

	admitted int // were let in
}

// tree is a Fenwick tree of people by rank.
type tree []int32

// add counts so many people more of a rank.
func (t tree) add(rank, more int32) {
	for at := int(rank) + 1; at < len(t); at += at & -at {
		t[at] += more
	}
}

// before counts the people of lower ranks.
func (t tree) before(rank int32) int {
	people := int32(0)
	for at := int(rank); at > 0; at -= at & -at {
		people += t[at]
	}
	return int(people)
}

// NewOvertaking returns an Overtaking of so many people, of whom the i-th arrives then.
func NewOvertaking(people int, arrived func(i int) queue.Instant) *Overtaking {
	order := make([]int32, people)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(arrived(int(a)), arrived(int(b))) })
	o := &Overtaking{rank: make([]int32, people), waiting: make(tree, people+1), letIn: make(tree, people+1)}
	for rank, i := range order {
		o.rank[i] = int32(rank)
	}
	return o
}

// Waits notes that person i waits from now on.
func (o *Overtaking) Waits(i int) { o.waiting.add(o.rank[i], 1) }

// Leaves notes that person i, who has waited, does so no longer.
func (o *Overtaking) Leaves(i int) { o.waiting.add(o.rank[i], -1) }

// LetIn notes that person i is let in.
func (o *Overtaking) LetIn(i int) {
	o.Most = max(o.Most, o.Earlier(i))
	o.letIn.add(o.rank[i], 1)
	o.admitted++
}

// Earlier counts the people who wait and came before person i.
func (o *Overtaking) Earlier(i int) int { return o.waiting.before(o.rank[i]) }

// Overtook counts the people who were let in and came after person i, who waits.
func (o *Overtaking) Overtook(i int) int { return o.admitted - o.letIn.before(o.rank[i]) }

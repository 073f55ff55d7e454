package measure

import (
	"cmp"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
)

// Overtaking measures how many people with an earlier arrival still wait when somebody is
// let in: all who wait by their own account, whether their turn has come or not. It counts
// them by the order of arrival, in a Fenwick tree.
type Overtaking struct {
	Most int // people who had come before somebody and still waited when that one was let in

	rank []int32 // of each person, by arrival
	tree []int32 // of those who wait, by rank
}

// NewOvertaking returns an Overtaking of so many people, of whom the i-th arrives then.
func NewOvertaking(people int, arrived func(i int) queue.Instant) *Overtaking {
	order := make([]int32, people)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(arrived(int(a)), arrived(int(b))) })
	o := &Overtaking{rank: make([]int32, people), tree: make([]int32, people+1)}
	for rank, i := range order {
		o.rank[i] = int32(rank)
	}
	return o
}

// Waits notes that person i waits from now on.
func (o *Overtaking) Waits(i int) { o.count(i, 1) }

// Leaves notes that person i, who has waited, does so no longer.
func (o *Overtaking) Leaves(i int) { o.count(i, -1) }

func (o *Overtaking) count(i int, more int32) {
	for at := int(o.rank[i]) + 1; at < len(o.tree); at += at & -at {
		o.tree[at] += more
	}
}

// LetIn notes that person i is let in.
func (o *Overtaking) LetIn(i int) { o.Most = max(o.Most, o.Earlier(i)) }

// Earlier counts the people who wait and came before person i.
func (o *Overtaking) Earlier(i int) int {
	people := int32(0)
	for at := int(o.rank[i]); at > 0; at -= at & -at {
		people += o.tree[at]
	}
	return int(people)
}

package simulate

import "slices"

// overtaking measures how many people with an earlier arrival still wait when somebody is
// let in: all who wait by their own account, whether their turn has come or not. It counts
// them by the order of arrival, in a Fenwick tree.
type overtaking struct {
	rank []int32 // of each visitor, by arrival
	tree []int32 // of those who wait, by rank
	most int
}

func newOvertaking(crowd []visitor) overtaking {
	order := make([]int32, len(crowd))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(crowd[a].arrived - crowd[b].arrived) })
	o := overtaking{rank: make([]int32, len(crowd)), tree: make([]int32, len(crowd)+1)}
	for rank, i := range order {
		o.rank[i] = int32(rank)
	}
	return o
}

// count counts visitor i as one more who waits, or one fewer.
func (o *overtaking) count(i, more int32) {
	for at := o.rank[i] + 1; int(at) < len(o.tree); at += at & -at {
		o.tree[at] += more
	}
}

// letIn notes that visitor i is let in.
func (o *overtaking) letIn(i int32) { o.most = max(o.most, o.earlier(i)) }

// earlier counts the people who wait and came before visitor i.
func (o *overtaking) earlier(i int32) int {
	people := int32(0)
	for at := o.rank[i]; at > 0; at -= at & -at {
		people += o.tree[at]
	}
	return int(people)
}

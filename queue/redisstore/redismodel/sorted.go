package redismodel

import (
	"cmp"
	"slices"
)

// sorted is a sorted set: by score, and where scores are equal by member.
type sorted struct {
	scores map[string]float64
	order  []member
}

type member struct {
	score float64
	name  string
}

func (m member) compare(n member) int {
	return cmp.Or(cmp.Compare(m.score, n.score), cmp.Compare(m.name, n.name))
}

func newSorted() *sorted { return &sorted{scores: map[string]float64{}} }

func (z *sorted) size() int { return len(z.scores) }

// rank is the place of a member that is there.
func (z *sorted) rank(m member) int {
	i, _ := slices.BinarySearchFunc(z.order, m, member.compare)
	return i
}

func (z *sorted) remove(name string) bool {
	score, known := z.scores[name]
	if !known {
		return false
	}
	i := z.rank(member{score, name})
	z.order = slices.Delete(z.order, i, i+1)
	delete(z.scores, name)
	return true
}

func (z *sorted) set(name string, score float64) (added bool) {
	if before, known := z.scores[name]; known && before == score {
		return false
	}
	added = !z.remove(name)
	m := member{score, name}
	z.order = slices.Insert(z.order, z.rank(m), m)
	z.scores[name] = score
	return added
}

// between returns the members from one bound to another.
func (z *sorted) between(low, high bound) []member {
	if z == nil {
		return nil
	}
	from, _ := slices.BinarySearchFunc(z.order, low, func(m member, b bound) int {
		if m.score > b.score || m.score == b.score && !b.without {
			return 1
		}
		return -1
	})
	to, _ := slices.BinarySearchFunc(z.order, high, func(m member, b bound) int {
		if m.score > b.score || m.score == b.score && b.without {
			return 1
		}
		return -1
	})
	if from >= to {
		return nil
	}
	return z.order[from:to]
}

// bound is where a range of scores begins or ends.
type bound struct {
	score   float64
	without bool // the score itself is not in the range
}

func sortedCopy(list []string) []string {
	slices.Sort(list)
	return list
}

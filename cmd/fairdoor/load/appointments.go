package load

import (
	"container/heap"
	"time"
)

// appointment is when a person does the next thing.
type appointment struct {
	at     time.Time
	person *person
}

// appointments is a heap, the earliest first.
type appointments []appointment

func (a appointments) Len() int           { return len(a) }
func (a appointments) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a appointments) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push implements [heap.Interface].
func (a *appointments) Push(x any) { *a = append(*a, x.(appointment)) }

// Pop implements [heap.Interface].
func (a *appointments) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

func (a *appointments) add(p *person, at time.Time) { heap.Push(a, appointment{at: at, person: p}) }

func (a *appointments) next() *person { return heap.Pop(a).(appointment).person }

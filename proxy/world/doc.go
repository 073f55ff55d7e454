// Package world has whole gates, a site behind them and a crowd in front of them in one process, in
// virtual time. It is imported by tests only.
//
// A [Plan] is all that is decided before a world begins: it is drawn from a seed by [Draw]. [Run]
// lives it and returns its [History]: what everybody sent, was told and was given, and what the
// origin saw. [Check] holds a history to the promises of cmd/fairdoor/docs/promises.md. The same
// plan has the same history, to the nanosecond.
//
// # Time
//
// A world lives in a bubble of testing/synctest. Everybody is a goroutine that waits for virtual
// time. It moves on only when all of them wait. The bubble wakes those who wait for the same
// nanosecond in any order, so everybody waits for a moment of their own: delays are drawn to the
// nanosecond, and the goroutines of a gate take turns. Nobody shares a source of random numbers with
// anybody: what a visitor does next is drawn from the visitor's own, and how long a call is under
// way is a hash of the seed, the link and how many calls came before on it.
//
// # Parts
//
//	plan.go             what is decided beforehand
//	world.go            a life, from the first gate to the last visitor
//	gate.go             a process with a gate in it: it starts, dies and starts again
//	disk.go             the disk that its journals are on
//	site.go             the origin
//	link.go, source.go  delays, and random numbers
//	turns.go, shake.go  in which order goroutines go on that could do so at one moment
//	sale.go             an event with a prequeue
//	visitor.go, ask.go  what all visitors do
//	sizes.go            how much gates and stores keep
//	jar.go              their cookies, and what is in them
//	passes.go, push.go  what holders of passes and those who are called meet: holder.go, caller.go
//	waitlist.go         a second room, whose guests are invited: guest.go, post.go, invites.go, spots.go, ranks.go
//	history.go          what happened, and the story that it makes
//
// These have a file for each kind, and a list in which each kind is a line:
//
//	visitors.go         kinds of visitors
//	faults.go           kinds of faults
//	checkers.go         promises
//	pool.go             promises about averages, which many histories show together
package world

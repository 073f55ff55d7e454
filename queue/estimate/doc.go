// Package estimate is what a room tells of the future: how many people are ahead of a visitor, how
// long they will wait, when slots open, why people wait, and what came of the waits that were told.
//
// An [Estimator] is asked by one node of a room. It hears of each answer of the store to a sync, of
// who joins the line here, and of how long those had waited who are let in. It gives an [Outlook]
// for decisions, [Numbers] for visitors, and a [Score]. It decides nothing, calls nobody, and reads
// no clock: it knows a room by the store's answers alone, so that all nodes find about the same.
//
// # Parts
//
//	Estimator  estimator.go   what goes in and comes out
//	Outlook    outlook.go     what decisions go by
//	Numbers    numbers.go     what visitors are told
//	           reason.go      why people wait
//	scores     score.go       what came of the waits that were told
//	schedule   schedule.go    when the room lets in the n-th visitor, over minutes
//	Expected   expect.go      what the room would do with other settings
//	forecast   forecast.go    when slots will open, over seconds
//	tempo      tempo.go       how fast the room moves, as is measured
//	           coldstart.go   how long slots are held, where nobody knows of admissions from before
//	slowing    slowing.go     how admissions are slowed, and go on being
//	crowd      crowd.go       who is ahead of whom, by the store's answer
//	arrivals   arrivals.go    when people joined the line
//	           cohorts.go     people by when they came
//
// A part calls only those below it. The arrivals and the scores guard themselves; the lock of the
// Estimator is taken before theirs.
package estimate

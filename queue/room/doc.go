// Package room is one room on one node: it decides about requests from their tickets
// alone where it can, and asks the store where it must.
//
// # A visit
//
// [Room.Visit] reads in that order: is the visitor in already (decided from the
// ticket alone); if not, are they due; if so, count them, and put a claim to the
// store if a slot may be theirs.
//
//	visit.go, counting.go    the visit: in? due? count, claim, answer
//	subjects.go              visitors whom the site names, whichever device they use
//	checkin.go, peek.go      how a visitor stands, with and without a check-in
//	waiters.go               who checked in lately, and the unreported counts
//	sessions.go, touch.go    who is in, and what is kept while an answer is under way
//	revoke.go                whose sessions were ended
//	batch.go                 the batch: claims that go to the store together
//	exchange.go, outage.go   the exchange with the store, and what holds without it
//	numbers.go, turns.go     what visitors are told, and whose turn it is
//
// # Locks
//
// A goroutine that holds one of these takes only those below it:
//
//  1. that of giving the room a configuration (exchange.configuring);
//  2. that of the exchange with the store (exchange.mu), held through a call;
//  3. that of a shard of the waiters;
//  4. that of a shard of the sessions, or that of what visits write down for the
//     next report (exchange.noted).
//
// The lock of the batch (batch.mu) is held alone. Of the visits, only those whose
// claims are put to the store wait for the second.
package room

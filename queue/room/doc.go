// Package room is one room on one node: it decides about requests from their tickets alone where it
// can, and asks the store where it must.
//
// # A visit
//
// [Room.Visit] reads in that order: is the visitor in already (decided from the ticket alone); if
// not, are they due; if so, count them, and put a claim to the store if a slot may be theirs; then
// answer.
//
// What follows from the request and the rules alone is said by its situation, which remembers
// nobody and changes nothing. A visit is a situation beside what the room remembers: it decides,
// counts and claims.
//
// # Parts
//
// A [Room] is a facade. It is made of parts, from the top down:
//
//	visits      visit.go, subjectvisit.go   in? due? counted, and a claim or an answer
//	            claim.go, answer.go         what the store is asked, and what becomes of its word
//	            peek.go, checkin.go         how a visitor stands, without and with a check-in
//	            aim.go                      when a visitor comes back, to meet their slot
//	            renew.go, leave.go          what keeps a session or a place, and what ends it
//	            drawn.go                    places in the random order of a shuffled prequeue
//	            move.go                     places that move to another device
//	            ahead.go                    places that a pass puts ahead
//	            recall.go                   slots of visitors who had left
//	            uncounted.go                visitors of a room that is open to all
//	            lease.go                    sessions that last for a short time until their visitor comes back
//	batcher     batch.go                    claims that go to the store together
//	exchange    exchange.go, report.go      the conversation with the store
//	            configure.go, panics.go     configurations; panics of the store
//	estimates   package estimate            what visitors are told, and when slots will open
//	sessions    sessions.go                 who is in, and what is kept while an answer is under way
//	            sessiontable.go             the ends of sessions
//	            revocations.go              whose sessions were ended
//	presence    presence.go, subjects.go    who checked in lately, and where they are counted
//	            presenceshard.go, cells.go  a part of them, and the unreported counts
//	networks    networks.go                 whose places count, of each network
//	pressures   pressure.go                 how the origin is doing, and what limits it could bear
//	outbox      outbox.go                   what else visits leave for the next report
//	conditions  conditions.go, outage.go    what decisions go by: rules, view, pause, outage
//	rules       rules.go                    the settings in force, and what follows from them
//	methods     methods.go, turns.go        what the queueing methods differ in here
//	storeClock  storeclock.go               the store's time by the node's clock
//	timing      clock.go                    the node's clock, and how a call waits
//
// config.go, request.go and ask.go have what a room and a visit are told. random.go draws ids and
// intervals, and table.go is the hash table of the presence and the sessions. open.go puts the
// parts together. A part guards itself: its callers take no lock for it. It calls the parts below
// it only; what it has to say to those above it returns, or hands to a func that it was given.
//
// # Time
//
// There are two clocks. The node's clock tells a time.Time, which is called now. The store's tells
// a queue.Instant: the moment of a decision is called at. Only the storeClock turns one into the
// other. Only the batcher and the exchange read a clock: after a call has waited, and before and
// after each call to the store.
//
// # Locks
//
// A goroutine that holds one of these takes only those below it:
//
// 1. that of giving the room a configuration (exchange.configuring); 2. that of the exchange with
// the store (exchange.mu), held through a call; 3. that of draining the counts of the presence
// (presence.draining); 4. those of the estimates, that of a shard of the presence, that of a shard
// of the sessions, and those of the networks,
//
//	the revocations, the outbox, the pressures and the storeClock: while one of these is held, none other is taken.
//
// The lock of the batcher is held alone. The funcs of a Config are called with the second held. Of
// the visits, only those whose claims are put to the store wait for that.
package room

// Package queue is the vocabulary of who may enter a room, the one rule that decides it, and the
// contract of the stores that keep it. Package room has the live room of one node, package estimate
// what it tells of the future, packages memstore and redisstore are the stores. Package setting
// describes single settings, pacing releases the allowance of a minute, line keeps an exact line in
// memory, and waits counts waits.
//
// # Words
//
// These words mean one thing each, here and everywhere in the project:
//
//   - room: what is guarded: some hosts and paths with limits, settings and a
//     line of their own.
//   - gate: a running Fairdoor. In this package it is a node: one of those that
//     share a store.
//   - origin: the site behind the gate.
//   - store: what the nodes share: it counts, holds the sessions, and decides
//     who gets a slot.
//   - visitor: whoever sends requests under one id: a browser's cookie, or a
//     user of the site, whom we call a subject.
//   - ticket: what a visitor carries in the cookie: who they are, and either
//     their place or their session.
//   - slot: one of the total_active_users sessions that a room has space for.
//     It is open, or one visitor holds it.
//   - session: the time in which a visitor holds a slot. It ends
//     session_duration after their last request, as a rule.
//   - accepted, or active: said of a visitor who has a session. To admit
//     somebody is to give them an open slot.
//   - queued, or waiting: said of a visitor who has a place and no slot.
//   - line: the queued visitors of a room, in the order of its method. The
//     method named line keeps an exact line: each visitor has a number.
//   - place: what puts a visitor ahead of others in the line: the time of
//     arrival, or the number in an exact line.
//   - bucket: an interval of arrival times. Visitors of one bucket are equal to each
//     other in fifo. The store cuts buckets as finely as the order needs, unless
//     their length is set.
//   - boundary: a moment at which a bucket begins that the store has cut.
//   - check-in: a queued visitor's request that counts. The ticket says when
//     the next one is due: a refresh interval after the last.
//   - present: said of a queued visitor whose next check-in is not overdue. Only
//     those who are present are ahead of anybody.
//   - draw: a check-in in random, which wins if a slot is open just then.
//   - running time: the time in which a gate ran. See below.
//   - granted: said of a claim by which the store has admitted a visitor. Entered
//     is said of a visitor of whom a node learns that they were admitted elsewhere.
//   - factor: what is left of new_users_per_minute while admissions are slowed, because the origin
//     is slow or fails. See package pressure.
//   - open to all: said of a room that counts nobody, because its traffic has not passed queue_when.
//   - pass: what an operator has given somebody, so that they are ahead in line ([Ahead]), or may join at all.
//   - configuration: the settings that a room goes by, with a version, and what
//     operators have changed of those in the file.
//
// # The one rule
//
// A visitor may take a slot only if enough slots remain for everyone who is ahead of them. The open
// slots of a room are
//
//	open = min(total_active_users - active, released - admitted this minute)
//
// where a factor leaves only a part of what is released (pacing.Slow), and a visitor is admitted
// iff open - ahead > 0, where ahead is the number of people present in line before them. The
// methods differ only in how they count ahead:
//
//   - fifo: the people present in earlier buckets;
//   - random: nobody, for a visitor who has come back; each check-in is a draw;
//   - line: everybody in front of them in an exact line, which the store keeps, except
//     those whose ticket has not come back yet: they may not exist;
//   - passthrough: nobody, for anyone, and the limits do not hold;
//   - reject: nobody enters.
//
// A visitor who has no ticket yet has everyone present ahead, in every method but passthrough:
// while people wait, a slot goes only to a ticket that has come back. What the methods differ in
// has names: see [Method].
//
// Three places have to agree on the rule: memstore (admit.go), the scripts of redisstore (slots.lua
// and admit.lua), and, as a guess that spares calls to the store, package room (conditions.go). A
// reason why no slot is open also belongs to the moment at which the next one is: nextOpen in
// memstore, next_open in slots.lua. Package storetest and a differential test hold the stores to
// each other.
//
// # Fine buckets
//
// In a burst, a bucket of a minute would make the order within it a raffle, and a bucket for each
// visitor would make the store's work grow with the crowd. So the store cuts buckets: one holds at
// most a [CutShare]-th of the people ahead of it, or as many as are admitted in [CutTime]. Near the
// head buckets are fine. Far behind they are coarse, and are cut on their way forward. Their number
// grows with the logarithm of the crowd.
//
// The boundaries come to the nodes with each [View]. A check-in counts its visitor in the bucket
// that their arrival falls into, which the ticket has to the millisecond. A visitor who has not
// checked in since a bucket was cut counts at its beginning, and so as ahead of all its parts:
// nobody overtakes by a cut. A visitor who comes back after their boundaries were dropped counts
// from the multiple of [Settings.LongestBucket] before their arrival.
//
// Until their first check-in visitors are counted by [ArrivalTime], whatever boundaries their node
// has heard of. So nodes see finely when people come to others, and know to the millisecond when
// they come to themselves: by that they tell the places of those who share a longer bucket
// (arrivals.go and crowd.go of package estimate).
//
// Slots would stay open if people came at any moment of an interval. So where order is kept, a node
// forecasts when a slot opens for a visitor. If that is sooner than the interval that was drawn, it
// tells them a shorter one (forecast.go of package estimate, and aim.go of package room). Visitors
// are told whole seconds, so those who come for one moment come within a second in any order. That
// is why the allowance of a minute is not released in one moment: see [PacingEarly].
//
// # Running time
//
// A number in an exact line is honoured until line_dropout after the last check-in in the visitor's
// ticket, by running time: the times in which no gate ran do not count, except in part those that
// were more than [MaxGaps] ago. By it a store also remembers whose place was used by an admission,
// or taken by an operator. So whenever a number is honoured, the store knows whether it still has a
// place: no ticket gets two slots.
//
// A store takes it that no gate ran if it heard of none for longer than [Silence], and the first of
// which it hears then has no view from before that time. If a gate that has one reports later, it
// ran meanwhile, and visitors could ask it: the time counts after all. An embedded store runs with
// its gate: it takes a restart for such a time. A gate that stands still and then goes on counts as
// running. All else goes by the clock: sessions, revocations, and the places in methods without an
// exact line.
//
// # Adding a setting
//
// A field of [Settings] is all that the file, the flags, the variables, the admin API, the schema
// and the store's document need. Besides it, a setting needs the rule that goes by it; if scripts
// do, a field of redisstore's rules; a line in cmd/fairdoor/config/fairdoor.yaml; what is written
// anew from the tags (go test ./cmd/fairdoor/config ./proxy/admin -update); and its sentence in the
// page that it is about (cmd/fairdoor/docs).
//
// # Where things are kept
//
// The visitor's own place travels in their [Ticket]. A node remembers for one refresh interval
// which visitors have checked in, so that a request that is early, or brings an old ticket, gains
// nothing. The ticket says in which cell its visitor is counted, so that another node can take them
// out of it. A node also remembers which sessions it has seen. A [Store] counts the people present
// by [Cell] (their bucket, and the window in which their next check-in is due), holds the active
// sessions by id, and grants slots in one atomic step. A visitor who misses a check-in leaves the
// counts when the window passes, and keeps the place in their ticket. An exact line is the
// exception: the store holds it visitor by visitor, and each check-in is a call to the store.
//
// The rule, the buckets and the wait times follow Cloudflare's article "Waiting Room: Random
// Queueing and Custom Web/Mobile Apps" (2021).
package queue

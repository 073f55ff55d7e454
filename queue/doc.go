// Package queue decides who may enter a room.
//
// # The one rule
//
// A visitor may take a slot only if enough slots remain for everyone who is
// ahead of them. The open slots of a room are
//
//	open = min(total_active_users - active, released - admitted this minute)
//
// and a visitor is admitted iff open - ahead > 0, where ahead is the number of
// people present in line before them. The methods differ only in how they
// count ahead:
//
//   - fifo: the people present in earlier buckets, a bucket being the
//     visitor's arrival time rounded down (to the minute, as a rule);
//   - random: nobody, for a visitor who has come back; slots are raced for at
//     each check-in;
//   - line: everybody in front of them in an exact line, which the store keeps, but
//     for those whose ticket has not come back yet: they may be nobody;
//   - passthrough: nobody, for anyone, and the limits do not hold;
//   - reject: nobody enters.
//
// A visitor who has no ticket yet has everyone present ahead, in every method:
// while people wait, a slot goes only to a ticket that has come back.
//
// # Where things are kept
//
// The visitor's own place travels in their [Ticket]. A [Room] remembers, for
// one refresh interval, which visitors have checked in, so that asking early or
// with an old ticket gains nothing, and which sessions it has seen. A [Store]
// counts the people present by [Cell] (bucket, and the window in which they are
// due next), holds the active sessions by id, and grants slots in one atomic
// step. Whoever misses a check-in leaves the counts when their window passes,
// and keeps the place in their ticket. An exact line is the exception: the store
// holds it visitor by visitor, and each check-in is put to it.
//
// # A visit
//
// [Room.Visit] reads in that order: is the visitor in already (decided from the
// ticket alone); if not, are they due; if so, count them, and put a [Claim] to
// the store if a slot may be theirs.
//
// The rule, the buckets and the wait times follow Cloudflare's article
// "Waiting Room: Random Queueing and Custom Web/Mobile Apps" (2021).
package queue

// Package waitlist keeps the guest list of a room that is not open to everybody yet: people sign
// up, see their rank, bring others to move up, are invited in batches, and accept. It has the
// record and its rules. The same record has the passes of rooms ([Passes]). Pages, mails, the admin
// API and the door are built on it by others.
//
// # Words
//
//   - entry: a person on a list, by an e-mail address, as a user of the site, or both.
//   - number: the entry's position, a sequence number that is taken in the transaction of the sign-up and never changes. It names the
//     entry to operators; people are not told it.
//   - rank: the entry's place among those who wait, by priority descending, then by number. It is what people are told.
//   - spot: what an invite gives. It is live until it is accepted or has ended: expired, or freed by somebody who left. The spots
//     that are live or accepted are held.
//   - owed: said of a spot that has ended, until another one was released in its place.
//   - referrer and referee: who told somebody of the list, and who was told. A credit is what that earns, once for each referee.
//   - secret: the token that brings an owner back to the entry, from any device, in the link of a mail.
//
// # What holds
//
// The names are those that tests use.
//
//   - W1: no more spots are held than the capacity, after every commit, on however many nodes.
//   - W2: a spot that was released is accepted or expires, and for each one that expires exactly one other is released in its place.
//   - W3: as many spots are released as the capacity and those that have ended, if there are people enough, once a sweep is done.
//   - W4: a sign-up that was acknowledged is on the disk.
//   - W5: there is one entry for each normalised address, and for each user.
//   - W6: those who are invited are the first in the order.
//   - W7: a credit is given at most once for each confirmed referee; what credits earn is capped; nobody is their own referee.
//   - W8: an invite is accepted at most once, and not after it has expired by the database's clock.
//   - W9: a mail is sent at least once, under one id.
//   - W10: what has happened to an entry is in the events if and only if it is in the record, once, in the order of the changes.
//   - W11: a report of an action counts once, whoever sends it and however often; what actions earn is capped.
//
// # How to use it
//
// [Open] opens the database, [Store.List] a list. The program calls [List.Sweep] each second on
// every node, and sends what [List.Lease] gives, answering each mail with [List.Sent],
// [List.Failed], [List.Drop] or [List.GiveBack]. Without SMTP it shows [List.Outbox].
//
//	sign-up           Join     an Entry, or no more than Unconfirmed; Own says whether the caller may have a cookie
//	sign up anew      Rejoin   for an owner whose invite has expired
//	GET   confirm     Confirmation
//	POST  confirm     Confirm  ErrUsed, ErrExpired: 410. ErrNotFound too, of links whose sign-up was erased
//	GET   the place   Entry (cookie), EntryBySecret (link), EntryOf (a user of the site)
//	DELETE the place  Leave
//	leave             EntryByMail and Leave, for a mail's way out
//	GET   invite      Invitation
//	POST  invite      Accept; AcceptOwn for an owner who has come back to the place and is Invited
//	the door          Guest (cookie), GuestOf a user of the site. Operators can take a spot back
//	the site          Report and TakeBack what people have done to move up; Moves
//	                  Events; or TakeTurn and EndTurn, to tell receivers of them
//	operators         Entries, Numbers, Release, Schedule, Cancel, Plans, SetPriority, SetStatus, Remove, Pause, Resume, Held, Judge,
//	                  Import, Export, Log
//
// The package leaves to its users: limits on sign-ups from one network; answers to sign-ups at a
// time and of a size that do not tell whether an address is known (see [List.Join]); the links
// around tokens; the words of mails.
//
// # How it works
//
// The record is relational (migrations/) and the same for SQLite and PostgreSQL, as are the
// queries. Every change to a list is done by the list's one writing goroutine, which gathers the
// changes that come at the same time into a transaction and answers when it is durable (write.go).
// A transaction begins by taking the list's row in the table waitlists: so the transactions of a
// list follow one another on all nodes, the counters in the row are exact, and nothing else needs a
// lock. Before it commits, it gives the spots that are owed to the next (spot.go): so an invite
// that expires goes on in the same transaction. A transaction changes some hundred entries at most:
// what is more is left to those that follow, and to the sweep.
//
// The time of a change is that of the node that makes it, unless its clock is more than a second
// off that of a PostgreSQL database: then the time is corrected by as much ([List.at]). Sessions
// with PostgreSQL have time limits (database.go), so that a node that is stuck holds nobody up for
// long.
//
// Ranks come from an index in memory (order.go). Each transaction has a version, one more than the
// last, and each entry the version that changed it last. After a commit, and in each sweep, a node
// reads the entries with newer versions than it has seen. So a node knows its own changes at once,
// and those of others after a sweep, within a second.
//
// Tokens have 128 random bits and are kept as hashes. In clear they are only in mails that are
// still to be sent.
package waitlist

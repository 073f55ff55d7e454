// Package simulate sends a crowd through a room in virtual time. The room is a
// [room.Room] with the embedded store, as the gate runs it; only the clock and
// the visitors are made up. A run is a pure function of its [Config]: the same
// seed gives the same result, to the last visitor.
//
// # The crowd
//
// People keep the ticket that they are given, come back after the interval that
// they were told, counted from the answer, and browse for a while once they are
// in. A share of them loses patience and closes the tab, with or without a
// goodbye. Spammers are people who ask many times an interval, with their newest
// ticket or an old one. Bots keep no cookies and ask once an interval. Strays are
// requests of clients without cookies, of whom each asks once: they come for as long as
// people do.
//
// A recorded crowd comes when it did and stays for as long as it did: see [Config.Replay].
// How it behaves as it waits is made up all the same.
//
// # Several nodes
//
// With Config.Nodes above one the crowd comes to as many gates, which share a
// store that counts for two seconds longer than told. Each gathers claims for 50
// milliseconds, syncs once a second, and has one call under way at most; a call
// takes Config.StoreLatency, half of it before the store decides. Requests and syncs
// are coroutines, so that where the room has them wait, virtual time passes. A node that
// dies takes all that it knows with it. A store that fails answers nothing for a
// while and forgets nothing; the room holds. Somebody whose admission is under way
// from the store still waits, as the crowd sees it: of those whose slots went on
// within Config.StoreLatency some count as let in out of turn.
//
// # The article's experiment
//
// [Article] is the experiment of Cloudflare's article "Waiting Room: Random
// Queueing and Custom Web/Mobile Apps" (2021): 10,000 people over 30 minutes who
// browse for about a minute. The article ran it with spoofed arrival minutes,
// everyone joining an empty room at once; Config.Spoofed does the same.
//
// The article does not name its session duration. In its picture of the random
// queue a first wave fills the lowest wait bucket, the next two are dark, a
// second wave takes two more, and another is dark: a wave comes every three
// buckets. With buckets of a minute, over which random pacing spreads a wave,
// and a minute of browsing, that makes a session last two minutes after the
// last request. Article has that.
//
// With 200 slots the 10,000 come in 50 waves, more than 30 buckets can tell
// apart; the waves show in a picture of the first 30 minutes.
//
// # Reading a result
//
// What is measured is what the crowd sees, not what the queue says of itself:
// the limits are checked by the ids whose requests were let through, and a slot
// is idle when it is open while somebody waits who has not walked away. Package measure
// has the measures that need nothing but what is seen from outside.
package simulate

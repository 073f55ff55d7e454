// Package events sends server-sent events (WHATWG HTML, "Server-sent events") to visitors who wait.
//
// A visitor who waits may open GET /.fairdoor/events. A stream is a check-in whenever one is due,
// and ends after about half the time for which a place is kept, for the browser to come again and
// take the new ticket. Before the event of a shuffled prequeue starts, streams end earlier for
// that, at moments of their own. The data is JSON:
//
//	place     the visitor's own numbers, as JSON has them. At the start, and after
//	          each check-in
//	numbers   those of the room, once per change and second at most: usersQueued;
//	          in fifo buckets by key, in line first- and lastWaitingNumber and
//	          usersPreferred, in random waitTime and its percentiles
//	admitted  the visitor is in: load the page again. The end
//	closed    the room takes nobody, or is gone. The end
//
// Streams are for visitors near the head of the line ([queue.Settings.Streams]): that of another tells
// their place and ends at once, and has the browser come again when their next check-in is due. One
// that is open goes on whatever changes.
//
// When a visitor's turn has come (room.Room.Turns) their stream checks in for them at once, in fifo
// before their time, and tells them that they are in: what is announced has happened, on whichever
// gate their browser asks next. The slot is theirs for one session. A visitor who does not come to
// the room until then has lost it, for neither streams nor GET /.fairdoor/session renew a session
// without the ticket that an admitted request has brought.
//
// The gate finds out who asks for events, and hands them to the [Hub] as a [Listener]; the hub
// knows their room as a [Room].
//
//	hub.go       the open streams, by room; the beat, and what the gate tells the hub
//	audience.go  the streams of one room: its numbers, and whose turn has come
//	stream.go    one stream, from its opening to its end
//	renewal.go   its end shortly before the event of a shuffled prequeue starts
//	line.go      what a stream is sent over
//	crew.go      the goroutines that act for streams
//	numbers.go   the event of a room's numbers
//
// # Memory
//
// A stream is a few hundred bytes, a connection, and a goroutine that waits for the connection's
// end. So the answer is detached from its request where the server can do that ([Detach]): the
// handler returns, and with it goes what net/http keeps for a request. Otherwise the handler is the
// goroutine that waits. What is to be done for a stream is done by a crew, whose goroutines are few
// and have the deep stacks.
//
// # Locks
//
// The hub's lock guards the audiences, and of each stream the fields that say so. Nothing is
// written to a visitor and no store is asked while it is held: a stream that has something to do is
// woken, and a goroutine of the crew does it. That one holds the stream's own lock, within which
// the hub's may be taken. The crew's lock is the innermost.
package events

// Package proxy is the gate: it stands in front of origins and lets in no more
// visitors than they can serve.
//
// The life of a request, as [Gate.ServeHTTP] has it:
//
//	is it for the gate itself?               yes → the gate           own.go
//	which room guards this host and path?    none → the origin        guard.go
//	does a rule exempt it?                   yes → the origin         uncounted.go
//	is it a browser's own, a preflight?      yes → the origin         uncounted.go
//	whose ticket is this?                    none we trust → new      cookie.Jar
//	whom does the site say they are?         nobody → the ticket's    subject.Reader
//	not in, and it is a part of a page?      yes → the origin         uncounted.go
//	may they enter?                          the one rule             room.Room of queue/room
//	admitted → the origin                                             forward.go
//	queued → a page or JSON                                           answer.go
//	either with the ticket, where it has changed                      ticket.go
//
// A room lasts (room.go). What is configured is a setup, which [Gate.Configure]
// replaces as a whole: it has the table of routes, the guards that they lead to, and
// for each guard the setup that requests go by (setup.go, roomsetup.go). A guard is a
// room, or a family: a room for each value of a segment of the path, made and dropped
// as they are used (guard.go, family.go). While an answer is under way its session
// stays active (hold.go).
//
// Preflights and parts of pages pass without being counted, as many as the network
// may have that they come from (networks.go). Neither passes while nobody may enter,
// nor a part of a page while people have to wait.
//
// Below /.anteroom/ the gate answers for itself (own.go): the page's goodbye, and
// how the caller stands (session.go).
//
// [Gate.Admin] is a second handler, for a listener of its own: health, metrics,
// and the rooms with their visitors (visitors.go).
//
// # Events
//
// Whoever waits may open GET /.anteroom/events (server-sent events). A stream is a
// check-in whenever one is due, and ends after about half a queue_ticket_ttl, for
// the browser to come again and take the new ticket. The data is JSON:
//
//	place     the visitor's own numbers, as JSON has them. At the start, and after
//	          each check-in
//	numbers   those of the room, once per change and second at most: usersQueued;
//	          in fifo buckets by key, in line first- and lastWaitingNumber and
//	          usersPreferred, in random waitTime and its percentiles
//	admitted  the visitor is in: load the page again. The end
//	closed    the room takes nobody, or is gone. The end
//
// When somebody's turn has come (room.Room.Turns) their stream checks in for them
// at once, in fifo before their time, and tells them that they are in: what is
// announced has happened, on whichever gate their browser asks next. The slot is
// theirs for one session: who does not come to the room until then has lost it, for
// neither streams nor GET /.anteroom/session renew a session without the ticket that
// an admitted request has brought. The room's streams are in streams.go, one stream
// in events_stream.go.
package proxy

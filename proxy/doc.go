// Package proxy is the gate: it stands in front of origins and lets in no more
// visitors than they can serve.
//
// The life of a request, as [Gate.ServeHTTP] has it:
//
//	is it for the gate itself?               yes → the gate           own.go
//	which room guards this host and path?    none → the origin        guard.go
//	does a rule exempt it?                   yes → the origin         uncounted.go
//	is it a browser's own, a preflight?      yes → the origin         uncounted.go
//	does a rule flag it?                     yes → the endless line   endless.go
//	whose ticket is this?                    none we trust → new      cookie.Jar
//	is it bound to somebody else?            yes → new                bind.go
//	whom does the site say they are?         nobody → the ticket's    subject.Reader
//	do they hold a pass?                     yes → its visitor        passes.go
//	a room for guests, and no guest?         yes → the waitlist       waitlists.go
//	a room for holders of passes, and none?  yes → asks for a code    passes.go
//	not in, and a browser prefetches it?     yes → later              machines.go
//	not in, and it is a part of a page?      yes → the origin         uncounted.go
//	does their page lack the cookie it got?  yes → no place           uncounted.go
//	may they enter?                          the one rule             room.Room of queue/room
//	admitted → the origin                                             forward.go
//	too many who ask too soon?               yes → no answer           flooded.go
//	would they take a place unproven?        yes → the challenge      challenged.go
//	queued → a page or JSON                                           answer.go, address.go
//	either with the ticket, where it has changed                      ticket.go
//
// A room lasts (room.go). What is configured is a setup, which [Gate.Configure]
// replaces as a whole: it has the table of routes, the guards that they lead to, and
// for each guard the setup that requests go by (setup.go, roomsetup.go). A guard is a
// room, or a family: a room for each value of a segment of the path, made and dropped
// as they are used (guard.go, family.go). While an answer is under way its session
// stays active (hold.go).
//
// A request and its sender are a visitor (visitor.go). Rooms share origins, of which one may have
// several (origins.go); an answer of theirs that carries a ticket is kept from caches, and while the room queues every answer from
// shared ones (caches.go). Forwarding headers that are not believed are warned of (untrusted.go). They may tell how much
// is left (left.go). The pages of those who wait are rendered once for all who are told the same
// (pages.go). A room may measure how its origin does (measured.go). Connections that keep their
// visitors in the room are its seats (seats.go). The names by which operators recognise visitors
// are kept by package labels.
//
// Preflights and parts of pages pass without being counted, as many as the network
// may have that they come from (networks.go). Neither passes while nobody may enter,
// nor a part of a page while people have to wait. Requests that no person looks at take
// no place: those of crawlers, and HEAD and OPTIONS (machines.go). Package crawler knows
// crawlers by their names, and for the rules by their addresses.
//
// A room may have a challenge, of package challenge: whoever gets a place has passed it, and
// the ticket is the proof. Keys that sites publish for their tokens are fetched once for all
// rooms (keys.go).
//
// Somebody who waits may move their place to another device (move.go), or leave and be called when it is their turn (callbacks.go);
// package callback checks in for them meanwhile, and package webpush tells them. Hosts that others have named are asked by package outbound.
//
// So that those who are in do not wait behind thousands who poll as fast as they can, package flood measures how late the server is, and
// some requests of those who are not in are shed (flooded.go).
//
// Below /.fairdoor/ the gate answers for itself (own.go): the page's goodbye, how the
// caller stands (session.go), and the sites' logos (pictures.go). A check of another proxy
// is answered there as the request would be that it is about (check.go).
//
// In place of an origin there may be a handler in the same process (inside.go).
//
// A room may have a waitlist (waitlists.go), which package guests serves: those who have
// accepted an invite of it are guests, one person each on all of their devices. It may take passes, by which operators let people in or ahead (passes.go); package passes serves them.
//
// Visitors who wait may open GET /.fairdoor/events; package events has what they are
// told. [Gate.Admin] is a second handler, for a listener of its own; package admin has
// its resources. What operators change of a room's settings is kept by package
// overrides, and what the gate tells Prometheus by package metrics. These packages know
// the gate and its rooms by interfaces of their own, which events.go, admin.go and
// metrics.go implement. What the gate signs for origins, and for proxies in front that let people in by
// themselves, is made by package assertion (assertions.go). Package record keeps the days of the rooms, which history.go tells it
// every second. What happens to rooms is noticed at each sync (watch.go), and told to other
// programs by package webhooks. The lists of drawn orders are logged then (drawn.go).
package proxy

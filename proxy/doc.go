// Package proxy is the gate: it stands in front of origins and lets in no more visitors than they
// can serve.
//
// The life of a request, as [Gate.ServeHTTP] has it:
//
//	is it for the gate itself?               yes → the gate           own.go
//	which room guards this host and path?    none → the origin        guard.go
//	does a rule exempt it?                   yes → the origin         uncounted.go
//	is it a browser's own, a preflight?      yes → the origin         uncounted.go
//	whose ticket is this, who are they?      none we trust → new      feature.Visit
//	are they in the endless line?            yes → its page           answer.go
//	may they not join the room?              yes → a feature answers  gate.go
//	not in, and a browser prefetches it?     yes → later              uncounted.go
//	not in, and it is a part of a page?      yes → the origin         uncounted.go
//	does their page lack the cookie it got?  yes → no place           uncounted.go
//	may they enter?                          the one rule             room.Room of queue/room
//	admitted → the origin                                             forward.go
//	does a feature answer instead?           yes → a feature answers  answer.go
//	queued → a page or JSON                                           answer.go, package pages
//	either with the ticket, where it has changed                      feature.Visit
//
// A room lasts (room.go). What is configured is a setup, which [Gate.Configure] replaces as a
// whole: it has the table of routes, the guards that they lead to, and for each guard the setup
// that requests go by (setup.go). A builder makes the next one beside that which is at work
// (builder.go, roomsetup.go). A guard is a room, or a family: a room for each value of a segment of
// the path, made and dropped as they are used (guard.go, family.go). While an answer is under way
// its session stays active (hold.go). Who sent a request about a room to one of the gate's own
// paths is found in visitors.go.
//
// What a room may have beside its limits are features: passes, a waitlist, a challenge and others.
// Each is a package of its own, and features.go lists them in the order in which they are asked.
// Package feature has what the gate and its features know of each other; services.go is the gate as
// features know it.
//
// Rooms share origins, of which one may have several (origins.go). In place of an origin there may
// be a handler in the same process (inside.go). An answer of theirs that carries a ticket is kept
// from caches, and while the room queues every answer from shared ones (package caches). Forwarding
// headers that are not believed are warned of (untrusted.go). Tickets may be bound to the network or
// the browser of their visitor (package bind).
//
// Preflights and parts of pages pass without being counted, as many as the network may have that
// they come from (package networks). Neither passes while nobody may enter, nor a part of a page
// while people have to wait. Requests that no person looks at take no place: those of crawlers, and
// HEAD and OPTIONS. Package crawler knows crawlers by their names, and for the rules by their
// addresses; package signature knows agents by the signatures of their requests. Keys that sites and
// agents publish are fetched once for all rooms (keys.go).
//
// Before each answer to those who are not in, features may drop their request (shedding.go), so
// that those who are in do not wait behind thousands who poll as fast as they can.
//
// Below /.fairdoor/ the gate answers for itself (own.go): the page's goodbye, how the caller stands
// (session.go), the sites' logos (pictures.go), and what features have there.
//
// Visitors who wait may open GET /.fairdoor/events; package events has what they are told.
// [Gate.Admin] is a second handler, for a listener of its own; package admin has its resources.
// What operators change of a room's settings is kept by package overrides, and what the gate tells
// Prometheus by package metrics. These packages know the gate and its rooms by interfaces of their
// own, which events.go, admin.go and metrics.go implement. What the gate signs is made by package
// assertion.
package proxy

// Package proxy is the gate: it stands in front of origins and lets in no more
// visitors than they can serve.
//
// The life of a request, as [Gate.ServeHTTP] has it:
//
//	which room guards this host and path?    none → the origin       route.Table
//	does a rule exempt it?                   yes → the origin         room.exempts
//	whose ticket is this?                    none we trust → new      cookie.Jar
//	may they enter?                          the one rule             queue.Room
//	admitted → the origin, with a new ticket where it changed         admit.go
//	queued → a page or JSON, with the ticket                          answer.go
//
// What is configured is a setup, replaced as a whole by [Gate.Configure]; the
// rooms' lines outlive it (setup.go, room.go). A family is a room for each value
// of a segment of the path, made and dropped as they are used (family.go). While an answer is under way its
// session stays active (hold.go).
//
// [Gate.Admin] is a second handler, for a listener of its own: health, metrics,
// and the rooms.
package proxy

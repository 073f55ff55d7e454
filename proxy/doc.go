// Package proxy is the gate: it stands in front of origins and lets in no more
// visitors than they can serve.
//
// The life of a request, as [Gate.ServeHTTP] has it:
//
//	which room guards this host and path?    none → the origin       route.Table
//	does a rule exempt it?                   yes → the origin         room.exempts
//	whose ticket is this?                    none we trust → new      cookie.Jar
//	whom does the site say they are?         nobody → the ticket's    subject.Reader
//	may they enter?                          the one rule             queue.Room
//	admitted → the origin, with a new ticket where it changed         admit.go
//	queued → a page or JSON, with the ticket                          answer.go
//
// What is configured is a setup, replaced as a whole by [Gate.Configure]; the
// rooms' lines outlive it (setup.go, room.go). While an answer is under way its
// session stays active (hold.go).
//
// Below /.anteroom/ the gate answers for itself (own.go): the page's goodbye, and
// how the caller stands (session.go).
//
// [Gate.Admin] is a second handler, for a listener of its own: health, metrics,
// and the rooms with their visitors (visitors.go).
package proxy

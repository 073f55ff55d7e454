// Package origin carries the requests of admitted visitors to one origin and its answers back,
// changing as little as a proxy may.
//
// A request passes through this package in this order:
//
//	ServeHTTP   refuses what cannot be passed on (CONNECT, TRACE, a broken target), drops every Upgrade but to websocket
//	rewrite     the request target byte for byte, Host kept or as configured, headers cleaned and forwarding headers set (see Trust)
//	carrier     chooses the round trip, over HTTP/1.1: direct, or net/http's own transport; with a connection of its own where the
//	            origin may ignore the body; tells an origin that fails from a visitor who left
//	direct      the round trip of most requests, on the goroutine that serves the visitor: those without a body, or with a short one
//	framed      the connections of net/http's transport: nothing passes but answers to requests, see heading
//	breaker     after a failure, finds out by probes and by many visitors' requests whether the origin fails
//	OnResponse  the gate's look at every answer before it goes out
//
// A Balancer stands before the origins of a room: it gives each its turn, and leaves out those that
// fail.
//
// The origin gets what the visitor has sent: this package neither adds nor changes the spelling of
// the path, the query, Host (unless a Balancer has another), User-Agent or Accept-Encoding. Bodies
// stream in both directions at once, but a short one is read before the origin is asked. Answers
// without a length and event streams are flushed at once. Trailers, 100 Continue and other 1xx
// answers pass.
//
// The package sets no deadlines on visitors: the server in package listen cuts off slow ones.
package origin

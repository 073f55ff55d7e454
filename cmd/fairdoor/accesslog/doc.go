// Package accesslog makes a crowd of an access log, so that last year's visitors can be sent
// through this year's limits.
//
//	Line    one request: when it came, from whom and what for
//	Scan    reads a log line by line, in any of its formats, and compressed or not
//	Reader  finds the visits in the lines of one or more logs
//	Log     what they held
//
// # Formats
//
// A line is in the combined format of Apache, nginx and Traefik, or in the common one, which
// has no User-Agent; or it is a JSON object as Caddy, Traefik, and nginx with escape=json
// write it. Lines of several formats may be mixed. Well-kept Go libraries read the one or
// the other of them, and none reads all.
//
// # Visits
//
// A visitor is an address and a User-Agent. A visit goes on until there is no request for the
// length of a session, for then the gate would count a new one. Lines may be in any order:
// visits that turn out to be one are joined. What is kept are visits, and of their visitors
// a hash, so that the length of a log does not matter.
//
// Left out are parts of pages, which nobody comes for, crawlers that say what they are,
// requests of methods that take no place, and what the gate's presets exempt.
package accesslog

// Package load sends a crowd at a gate, over HTTP and in real time, and
// judges what the gate makes of it by what the crowd and the origin see.
//
//	Config       the crowd, which package simulate draws, and where it goes
//	Run          sends it: a schedule of appointments, and a bounded number of connections
//	Origin       what the origin saw: by a server of its own, or by the origin's access log
//	Thresholds   what has to hold, such as active<=200
//	Report       what came of it
//
// # Only what is one's own
//
// A gate has to be at a loopback address, and every connection is checked, so that neither a
// name nor a redirect leads elsewhere: a crowd at somebody else's site is an attack. Another
// host has to consent, by its gate or at [ConsentPath]. Over a network a crowd measures the network, too, and
// the origin's view is exact only where the crowd and the origin have one clock.
//
// # Who is active
//
// Visitors are told apart by User-Agent, which the gate leaves as it is. What the origin
// sees of somebody was decided by the gate after the request was sent and before the origin
// got it. Where that leaves a doubt, it counts for the gate: a session lasts from when the
// last request was sent, and an admission whose minute cannot be told counts in none. So a
// limit that is seen to be exceeded was exceeded. Of clients without cookies, each request
// that is let in is a session of its own, as it is to the gate.
package load

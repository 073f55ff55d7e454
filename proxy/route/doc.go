// Package route decides which room guards a request, and whether a rule exempts it or flags its
// sender. It is pure: no I/O, no clock, no state.
//
// # Readings
//
// The gate sends a request on as it came, byte for byte, and cannot know how the origin will read
// the path. A gate that commits to one reading can be walked around by whoever finds a spelling
// that the origin reads otherwise: //tickets, /./tickets, /x/..%2ftickets, /TICKETS,
// /x;/../tickets. So a path is taken in every way an origin might take it. These steps are applied
// to the path, in any order and any combination:
//
//   - percent escapes are decoded, at most twice; either all of them, or all
//     but those of slash and backslash. What is no valid escape stays literal.
//   - "." and ".." segments are resolved, as RFC 3986, section 5.2.4 does.
//   - runs of slashes become one slash.
//   - ";" and what follows it are cut off every segment.
//   - backslashes become slashes.
//   - white space and control characters are cut off the end of every segment;
//     with them dots are, too, or dots and blanks are alone, as Windows does with
//     the names of files.
//   - the path ends at a NUL, a ";", a "#" or a "?" (one that was decoded: the
//     query is no part of the path).
//   - in a path that begins with "//", what follows is taken for a host, as
//     parsers of whole URLs do.
//
// Escapes of what cannot be in a path otherwise, as those of spaces and of letters beyond ASCII,
// are no spelling: /caf%C3%A9 is /café, and has no reading in which it is not.
//
// What comes of that is the set of readings. From it follow two rules:
//
//   - A request is gated if any reading is in a room, upper and lower case
//     being the same.
//   - A rule that exempts holds only if every reading fits it, case and all.
//
// A path with more than 64 readings, one that is longer than 8 KiB, one with an escape that only
// some servers know (%u002f, or slashes and the like in overlong UTF-8) and a target that is no
// path at all are ambiguous. No rule exempts them, and every room of their host guards them.
//
// # Doubt
//
// The conditions of a rule are put together by all, any and not. If each of them held for every
// reading by itself, not would turn that into "for some reading". So a rule is asked as a whole
// about one reading after the other, and must fit each.
//
// What readings do not settle is in doubt: letter case, what lies below a path or a suffix (a
// program may take it for an argument), how a header or a cookie is spelled, an address that is not
// known, and all of an ambiguous path. A condition that is in doubt does not hold; below not it
// does, so that its contrary does not hold either. A rule that exempts is therefore sure.
//
// A rule that flags must not be walked around, either: it holds if one reading fits it, and what is
// in doubt fits. Only an address that is not known flags nobody.
//
// A parameter of the query is sure if it is there as the rule has it, byte for byte, and nothing
// else may be taken for it: the name in another case, decoded at most twice, with a bracket behind
// it, with the underscores that PHP makes of dots. With a value it is there once. It is in doubt in
// a query that some server would not read to its end, or not at all: one with a semicolon, a
// question mark or a hash, encoded or not, with a NUL or another control character, with an escape
// that is none, with bytes that are not UTF-8, of more than 8 KiB, or of more than 100 parameters.
// It is not there if no server finds it.
//
// # Rooms
//
// A path is in a room if it is the path of one of the room's routes or lies below it, by whole
// segments: /shop covers /shop, /shop/ and /shop/x, and not /shopping. Where several rooms cover a
// reading, a route for the very host goes before one for every host, then the longer path goes
// first. That settles most requests, for few paths have readings in different rooms. For those
// Match names the most specific room of them all, and Table.All names each of them: without asking
// for all, someone let into a quiet room could spell their way through it into a busy one.
// Parameters at the end of a path, as in /shop;jsessionid=1, make no such difference where no
// braces can stand for them: read or not, they lead to no page that another room has.
//
// # Braces
//
// /room/{id} is a room for each value of the segment in braces, letter case being nothing; it
// guards what has something there. Longer paths go first up to the braces: /room/lobby is a room of
// its own. A value is letters, digits, - and _; of what is something else the Guard has none, and
// nobody can be let into it. Readings with different values are readings in different rooms.
package route

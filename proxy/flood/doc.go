// Package flood keeps those who are in from waiting behind those who poll as fast as they can.
//
// A request of somebody who is in takes several steps, and at each of them it waits behind
// everything else that has come to the server. Ten thousand connections or streams that ask again
// as soon as they are answered make that a third of a second. So the server measures how late it
// is: a byte that it sends to itself comes as late as a request does. While that is too late, a
// pressure rises, and some requests of people who are not in are shed by lot: they get no answer.
// Nobody's request is put off to be answered later. What counts is how many of these requests are
// late, over however few connections they come.
//
// Those who ask too soon are shed first, and those who ask when they were told are shed last: see
// [Kind]. A connection on which somebody who is in has come is not shed, unless others ask on it
// too soon again and again.
//
// Connections that were closed at once would come back at once, which costs more than answers do.
// So they are closed some seconds later: see the pen. Nothing is read from them or written to them
// meanwhile, and each costs the server a socket and no more. Of HTTP/2 only the stream is shed, in
// the same way: it takes up one of the hundred that its connection may have, until it is reset. A
// connection with many such streams, and nobody who is in, is shed as a whole.
//
// There is nothing to configure. The pressure is 0 while requests come in time, or hardly anybody
// waits, and nothing is measured while nobody does.
package flood

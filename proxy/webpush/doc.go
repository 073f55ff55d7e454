// Package webpush sends messages to browsers through the push services that they have chosen (RFC
// 8030): encrypted for the browser (RFC 8291), and signed so that the service knows the sender
// (VAPID, RFC 8292).
//
//	subscription.go  where a browser is reached, as its page tells
//	encrypt.go       a message, encrypted for one subscription
//	vapid.go         the sender's key, and the header that it signs
//	send.go          a request to a push service, and what the answer means
//
// It is written over the standard library and golang-jwt, which the gate has in any case, in about
// a hundred lines: so a test can give the key and the salt of the example of RFC 8291.
package webpush

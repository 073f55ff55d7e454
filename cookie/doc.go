// Package cookie carries a visitor's ticket in an HTTP cookie.
//
// A ticket is opaque here: some bytes that are sealed (encrypted, then authenticated)
// into a cookie value, and opened again on the next request. Only the caller knows what
// the bytes mean.
//
//	Key         a secret, as a line of text that a file can hold
//	Keys        the keys of a gate; of each, key pairs can be derived to sign with
//	Codec       payload ⇄ cookie value, with several keys for rotation
//	Attributes  SameSite, Secure and Domain, as an operator sets them
//	Jar         a Codec and its Attributes: reads requests, writes Set-Cookie
//	Strip       removes every cookie of ours before a request goes on
//
// # Names
//
// The cookie of a room is called "fairdoor_" and the room's cookie suffix or
// name. When the cookie is Secure and has no Domain, browsers see it as
// "__Host-fairdoor_…", which no sibling domain and no plain-http page can
// set. The name that is sealed with the ticket is always the one without
// "__Host-", so a ticket survives a change between http and https. A ticket
// of one room never opens as a ticket of another.
//
// # Identity
//
// A value is not an identity. The encoding is base64 with room for play: the
// unused bits of its last character may be anything, so several different
// strings open to the same payload. Compare, remember and revoke by an id
// inside the payload, never by the string.
//
// # Age
//
// A Codec puts no limit on the age of a value. What is still valid is for the
// payload to say and for the caller's clock to judge.
package cookie

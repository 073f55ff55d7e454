// Package passes lets people into rooms, or ahead in their lines, by links and codes that operators
// have made: passes. The record of them, which counts their uses, is that of package waitlist; the
// pages are those of package passpage.
//
//	room.go     the passes of a room: what was configured, and which are revoked
//	holder.go   the cookie of somebody who has used a pass
//	serve.go    the page of a link, and that on which people type codes
//	operate.go  what operators make and revoke, by the API of admin.go and the pages of dashboard.go
//
// A link has the id of its pass, sealed with the cookie keys; a code has 60 random bits, of which
// the record has the hash. To look at a link uses up nothing: that takes the button of its page.
// Whoever has used a pass has a cookie that names the use, and is one visitor with it, however many
// devices it is on: a use gives one place and one slot at a time, until the pass expires or is
// revoked.
package passes

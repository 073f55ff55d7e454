// Package callback calls visitors who have left: it checks in for them while they are away, and
// tells them by web push when it is almost their turn, and when a slot is kept for them.
//
// A [Desk] is that of one gate. It has a [Call] for each visitor who has asked for it, in a file of
// its own where the gate has a directory for them, so that a restart goes on with them. It knows
// the gate by [Gate], which gate tells it how visitors stand.
//
//	call.go   a visitor who is to be called, and what they are told
//	desk.go   the desk: who asks for a call, and what is due
//	work.go   what is done when it is due: check-ins and messages
//	shares.go how much of the desk is anybody's
//	files.go  the files of the calls
package callback

// Package event has the events of a room: what is planned for a time, as a sale is.
//
// An [Event] has a start and an end, and settings of its own, which are in force meanwhile.
// What it leaves out stays as the room has it, and follows the room's changes. A prequeue
// before the start holds everyone new, as queue_all does. A shuffled one gives those who
// come in it a random order: see [Draw].
//
//	event.go   the event, and what is wrong with one
//	list.go    the events of a room: which is in force, and what follows of its settings
//	json.go    events as the admin API and the store's document have them
//	moment.go  how times are written
//	draw.go    the order of a shuffled prequeue
//	order.go   that order as it is published, and its check
package event

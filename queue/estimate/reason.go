package estimate

import (
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Reason is why people wait in a room, or would have to.
type Reason string

// The reasons. Where several hold, the first of them is told.
const (
	StoreUnreachable   Reason = "store_unreachable"
	OriginFailing      Reason = "origin_failing"
	ActiveHeld         Reason = "held"
	QueueAll           Reason = "queue_all"
	EventHolds         Reason = "event"
	SoldOut            Reason = "sold_out"
	MethodRejects      Reason = "method_rejects"
	StoreRecovering    Reason = "store_recovering"
	LimitReached       Reason = "limit_reached"
	OriginSlow         Reason = "origin_slow"
	PerMinuteLimit     Reason = "per_minute_limit"
	KeptForPeopleAhead Reason = "kept_for_people_ahead"
	NoReason           Reason = "none" // nobody waits, nor would have to
)

// reason is a Reason with what it means and when it holds.
type reason struct {
	is       Reason
	sentence string // for people
	holds    func(n *Numbers) bool
}

// reasons are all of them, in the order in which they are told. Those before LimitReached stop all
// admissions, the others say why no slot is open now.
var reasons = []reason{
	{StoreUnreachable, "The store does not answer, so nobody knows whether a slot is open. Who is let in meanwhile is as the room has it (on_store_error).",
		func(n *Numbers) bool { return n.Failing }},
	{OriginFailing, "The origin does not answer. Nobody new is let in until it does.",
		func(n *Numbers) bool { return n.Paused }},
	{ActiveHeld, "Operators hold everybody new, and those who are in are held too, or leave when their sessions end (hold_active).",
		func(n *Numbers) bool { return n.Settings.HoldActive != queue.HoldOff }},
	{QueueAll, "Operators hold everybody new (queue_all).",
		func(n *Numbers) bool { return n.Settings.HeldByOperators() }},
	{EventHolds, "An event is about to start: everybody new is held until it does.",
		func(n *Numbers) bool { return n.Settings.Event.HoldsNew }},
	{SoldOut, "The origin says that nothing is left, and the room is closed then: everybody new is turned away (on_sold_out).",
		func(n *Numbers) bool { return n.Settings.SoldOut(n.Stock) }},
	{MethodRejects, "The room takes nobody: everybody new is turned away (queueing_method reject).",
		func(n *Numbers) bool { return n.Settings.RejectsAll() }},
	{StoreRecovering, "The store has lost some of its memory. Nobody is let in until the gates have told it again who is there, which takes some seconds.",
		func(n *Numbers) bool { return n.Incomplete && n.Open == 0 }},
	{LimitReached, "Every slot is taken: as many people are in as may be in at once (total_active_users).",
		func(n *Numbers) bool { return n.Active >= n.Settings.Slots() }},
	{OriginSlow, "Slots are free, but the origin is slow or fails: fewer people are let in than may be each minute (new_users_per_minute).",
		func(n *Numbers) bool { return n.Open == 0 && 0 < n.Factor && n.Factor < 1 }},
	{PerMinuteLimit, "Slots are free, but as many people have been let in this minute as may be by now (new_users_per_minute).",
		func(n *Numbers) bool { return n.Open == 0 }},
	{KeptForPeopleAhead, "A slot is free. It goes to whoever is first in line, as soon as their page asks again.",
		func(n *Numbers) bool { return n.Waiting > 0 }},
}

// Reason tells why people wait, or would have to.
func (n *Numbers) Reason() Reason {
	if n.Settings.Suspended || n.OpenToAll || n.Settings.AdmitsEveryone() && !n.Paused && !n.Settings.SoldOut(n.Stock) {
		return NoReason
	}
	for _, why := range reasons {
		if why.holds(n) {
			return why.is
		}
	}
	return NoReason
}

// Reasons are all of them, in the order in which they are told.
func Reasons() []Reason {
	var all []Reason
	for _, why := range reasons {
		all = append(all, why.is)
	}
	return append(all, NoReason)
}

// StopsAll reports whether this reason stops all admissions.
func (r Reason) StopsAll() bool {
	place := func(r Reason) int { return slices.IndexFunc(reasons, func(why reason) bool { return why.is == r }) }
	at := place(r)
	return 0 <= at && at < place(LimitReached)
}

// Sentence says the reason in words.
func (r Reason) Sentence() string {
	for _, why := range reasons {
		if why.is == r {
			return why.sentence
		}
	}
	return "Nobody has to wait."
}

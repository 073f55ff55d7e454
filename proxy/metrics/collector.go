package metrics

import (
	"iter"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Gate tells how its rooms and its origins stand.
type Gate interface {
	// Groups returns the rooms and the families, each name once.
	Groups() iter.Seq[Group]
	// Origins returns the origins by their addresses, and whether each is failing.
	Origins() iter.Seq2[string, bool]
}

// Group is a room, or all rooms of a family together: a label for each of those would
// be one for whatever strangers ask for.
type Group struct {
	Name     string
	Rooms    []Room
	Streams  int // the open event streams
	MaxRooms int // how many rooms a family may have; 0 for a room that is in none

	// Unanswered and LetIn sum up what StoreErrors returned for rooms that are gone, Told,
	// InTime and Near what Scores did.
	Unanswered, LetIn  uint64
	Told, InTime, Near int
}

// Room is what the metrics ask of a [room.Room].
type Room interface {
	Numbers() *estimate.Numbers
	StoreFailing() bool
	StoreErrors() (calls, letIn uint64)
	Scores() (quarters []estimate.Score, total estimate.Score)
	Slowed() room.Slowdown
	OpenToAll() bool
}

// looked is a number, and what it is of a room, or of all rooms of a family together.
type looked struct {
	*Number
	of func(n *sum) float64
}

var (
	// ofAll are told of all rooms and families.
	ofAll = []looked{
		{Gauge("fairdoor_queued_users", "People present in line.", "room"), func(n *sum) float64 { return float64(n.waiting) }},
		{Gauge("fairdoor_active_users", "Sessions that hold a slot.", "room"), func(n *sum) float64 { return float64(n.active) }},
		{Gauge("fairdoor_open_slots", "Slots that are open.", "room"), func(n *sum) float64 { return float64(n.open) }},
		{Gauge("fairdoor_total_active_users_limit", "The limit total_active_users in force.", "room"), func(n *sum) float64 { return float64(n.limit) }},
		{Gauge("fairdoor_admitted_this_minute", "Admissions in this calendar minute.", "room"), func(n *sum) float64 { return float64(n.admitted) }},
		{Gauge("fairdoor_new_users_per_minute_limit", "The limit new_users_per_minute in force.", "room"), func(n *sum) float64 { return float64(n.perMinute) }},
		{Gauge("fairdoor_event_streams", "Open event streams.", "room"), func(n *sum) float64 { return float64(n.streams) }},
		{Gauge("fairdoor_store_failing", "1 while the store does not answer.", "room"), func(n *sum) float64 { return If(n.failing) }},
		{Gauge("fairdoor_admissions_paused", "1 while no origin of the room answers and nobody new is let in.", "room"), func(n *sum) float64 { return If(n.paused) }},
		{Total("fairdoor_store_errors_total", "Calls that the store left unanswered.", "room"), func(n *sum) float64 { return float64(n.unanswered) }},
		{Total("fairdoor_admitted_without_store_total", "Visitors let in by on_store_error.", "room"), func(n *sum) float64 { return float64(n.letIn) }},
		{Total("fairdoor_waits_told_total", "Visitors let in who had waited and been told a wait as they arrived.", "room"), func(n *sum) float64 { return float64(n.told) }},
		{Total("fairdoor_waits_in_time_total", "Of those, who were in by the time that they were told; in random by the 50 percentile.", "room"), func(n *sum) float64 { return float64(n.inTime) }},
		{Total("fairdoor_waits_near_total", "Of those, who waited for as long as they were told, to within a fifth of the wait; in random from the 25 to the 75 percentile.", "room"), func(n *sum) float64 { return float64(n.near) }},
		{Gauge("fairdoor_admission_factor", "What admission control leaves of new_users_per_minute; 1 for all of it.", "room"), func(n *sum) float64 { return n.factor }},
		{Gauge("fairdoor_open_to_all", "1 while everybody is let in and nobody is counted, because the traffic has not passed queue_when.", "room"), func(n *sum) float64 { return If(n.openToAll) }},
		{Gauge("fairdoor_queue_all", "1 while operators hold everybody new.", "room"), func(n *sum) float64 { return If(n.held) }},
		{Gauge("fairdoor_hold_active", "1 while those who are in are held, too, or leave as their sessions end.", "room"), func(n *sum) float64 { return If(n.holdActive) }},
		{Gauge("fairdoor_suspended", "1 while everybody passes and nobody is counted, because operators have suspended the room.", "room"), func(n *sum) float64 { return If(n.suspended) }},
		{Gauge("fairdoor_sold_out", "1 while the origin says that nothing is left, and the room is closed for it.", "room"), func(n *sum) float64 { return If(n.soldOut) }},
		{Gauge("fairdoor_gates", "Gates that the store of the room has heard of lately.", "room"), func(n *sum) float64 { return float64(n.gates) }},
	}

	// statesOfAll are the states of which a room is in one, as all rooms and families are told.
	statesOfAll = []states{
		{Gauge("fairdoor_reason", "1 for the reason why people wait, or would have to, as status tells it, and 0 for the others; of a family, the rooms with each.", "room", "reason"), reasons, func(n *estimate.Numbers) string { return string(n.Reason()) }},
		{Gauge("fairdoor_event_phase", "1 for how far the event of now has come, none without one, and 0 for the others; of a family, the rooms with each.", "room", "phase"), []string{noEvent, prequeueing, started}, phaseOf},
	}

	// ofMeasured are told where an origin was measured.
	ofMeasured = []looked{
		{Gauge("fairdoor_origin_latency_seconds", "Time within which the origin has answered 95 of 100 requests of visitors who are in, lately, as this gate has measured.", "room"), func(n *sum) float64 { return n.latency.Seconds() }},
		{Gauge("fairdoor_origin_error_ratio", "Share of those requests that the origin has failed to answer well, lately.", "room"), func(n *sum) float64 { return n.errors }},
	}

	// ofFamilies are told of families.
	ofFamilies = []looked{
		{Gauge("fairdoor_family_rooms", "Rooms that there are, of those with braces in their path.", "room"), func(n *sum) float64 { return float64(n.rooms) }},
		{Gauge("fairdoor_family_rooms_limit", "The limit max_rooms.", "room"), func(n *sum) float64 { return float64(n.maxRooms) }},
	}

	originFailing = Gauge("fairdoor_origin_failing", "1 while the origin does not answer.", "origin")
)

// states are those of a room, which is in one of them at a time.
type states struct {
	*Number
	all []string
	of  func(n *estimate.Numbers) string
}

// tell tells how many rooms of a group are in each state.
func (s *states) tell(tell Tell, g *Group) {
	rooms := map[string]int{}
	for _, r := range g.Rooms {
		rooms[s.of(r.Numbers())]++
	}
	for _, name := range s.all {
		tell(s.Number, float64(rooms[name]), g.Name, name)
	}
}

// reasons are the states of the metric of that name.
var reasons = func() (names []string) {
	for _, why := range estimate.Reasons() {
		names = append(names, string(why))
	}
	return names
}()

// The phases of an event.
const (
	noEvent     = "none"
	prequeueing = "prequeueing"
	started     = "started"
)

func phaseOf(n *estimate.Numbers) string {
	switch e := &n.Settings.Event; {
	case e.Name == "":
		return noEvent
	case e.Prequeueing:
		return prequeueing
	}
	return started
}

// standing are the numbers of rooms and origins.
func standing() []*Number {
	all := []*Number{originFailing}
	for _, l := range slices.Concat(ofAll, ofMeasured, ofFamilies) {
		all = append(all, l.Number)
	}
	for _, l := range statesOfAll {
		all = append(all, l.Number)
	}
	return all
}

// collect tells how the rooms and the origins of a gate stand.
func collect(of Gate, tell Tell) {
	for g := range of.Groups() {
		n := g.sum()
		numbers := ofAll
		if n.measured {
			numbers = slices.Concat(numbers, ofMeasured)
		}
		if n.maxRooms > 0 {
			numbers = slices.Concat(numbers, ofFamilies)
		}
		for _, l := range numbers {
			tell(l.Number, l.of(&n), g.Name)
		}
		for _, l := range statesOfAll {
			l.tell(tell, &g)
		}
	}
	for address, failing := range of.Origins() {
		tell(originFailing, If(failing), address)
	}
}

// sum is how the rooms of a group stand together.
type sum struct {
	streams, rooms, maxRooms int

	waiting, active, open, limit, admitted, perMinute int

	failing, paused    bool // one of them
	held, holdActive   bool // one of them
	suspended, soldOut bool // one of them
	gates              int  // the most
	unanswered, letIn  uint64
	told, inTime, near int

	factor    float64 // the lowest
	openToAll bool    // one of them
	measured  bool    // one of them
	latency   time.Duration
	errors    float64 // as latency, the highest
}

func (g *Group) sum() sum {
	all := sum{streams: g.Streams, rooms: len(g.Rooms), maxRooms: g.MaxRooms, unanswered: g.Unanswered, letIn: g.LetIn, told: g.Told, inTime: g.InTime, near: g.Near, factor: 1}
	for _, r := range g.Rooms {
		n := r.Numbers()
		all.waiting += n.Waiting
		all.active += n.Active
		all.open += n.Open
		all.limit += n.Settings.Slots()
		all.admitted += n.Admitted
		all.perMinute += n.Settings.Allowance()
		all.failing = all.failing || r.StoreFailing()
		all.paused = all.paused || n.Paused
		all.held = all.held || n.Settings.HeldByOperators()
		all.holdActive = all.holdActive || n.Settings.HoldActive != queue.HoldOff
		all.suspended = all.suspended || n.Settings.Suspended
		all.soldOut = all.soldOut || n.Settings.SoldOut(n.Stock)
		all.gates = max(all.gates, n.Nodes)
		unanswered, letIn := r.StoreErrors()
		all.unanswered += unanswered
		all.letIn += letIn
		all.addOrigin(r)
		_, score := r.Scores()
		all.told, all.inTime, all.near = all.told+score.Visitors, all.inTime+score.InTime, all.near+score.Near
	}
	return all
}

// addOrigin takes in how the origin does with a room.
func (s *sum) addOrigin(r Room) {
	slowed := r.Slowed()
	s.factor, s.openToAll = min(s.factor, slowed.Factor), s.openToAll || r.OpenToAll()
	s.measured = s.measured || slowed.Here.Requests > 0
	s.latency, s.errors = max(s.latency, slowed.Here.Latency), max(s.errors, slowed.Here.Errors)
}

package templates

import (
	"slices"
	"time"
)

// State is a state of a room by name, for previews and checks.
type State struct {
	Name string
	Data Data
}

// States lists every state in which a template should be checked.
func States() []State {
	return slices.Concat(fifoStates(), randomStates(), lineStates(), heldStates(), []State{
		{"reject", Data{RoomName: "shop", QueueingMethod: methodReject}},
	}, toldStates(), eventStates())
}

// eventStates are the states of a room with an event.
func eventStates() []State {
	started := Data{
		RoomName: "shop", QueueingMethod: methodFIFO, WaitTimeKnown: true, WaitTime: 12, UsersAheadKnown: true, UsersAhead: 214, UsersQueued: 254,
		Event: Event{Start: "2020-08-03T23:50:00Z", End: "2020-08-04T02:00:00Z", UntilEnd: 118},
	}
	shuffled := started
	shuffled.Drawn, shuffled.Event.Shuffle = true, true
	shuffled.Event.SeedHash, shuffled.Event.Seed = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925", "00ff"
	before := func(d Data, minutes int) Data {
		d.WaitTimeKnown, d.Event.Prequeueing, d.Event.UntilStart, d.Event.UntilEnd, d.Event.Seed = false, true, minutes, minutes+130, ""
		return d.resolved()
	}
	drawing := before(shuffled, 8)
	drawing.UsersAheadKnown = false
	held := before(started, 8)
	held.QueueAll = true
	drawing = drawing.resolved()
	return []State{
		{"prequeue", before(started, 8)},
		{"prequeue, soon", before(started, 1)},
		{"prequeue, hours", before(started, 300)},
		{"prequeue, shuffle", drawing},
		{"prequeue, reject", Data{RoomName: "shop", QueueingMethod: methodReject, UsersQueued: 310, Event: before(started, 8).Event}},
		{"prequeue, queue all", held},
		{"event", started},
		{"event, shuffled", shuffled},
	}
}

// toldStates are states in which a page tells more than the line.
func toldStates() []State {
	queued := Data{
		RoomName: "shop", QueueingMethod: methodFIFO, WaitTimeKnown: true, WaitTime: 12, UsersAheadKnown: true, UsersAhead: 214, UsersQueued: 254,
		PlaceKeptSeconds: 1800,
	}
	rejoined, own, notSent := queued, queued, queued
	rejoined.Rejoined, notSent.NotSent = true, true
	own.Message = "Tickets for Saturday are sold out."
	own.Identity = Identity{SiteName: "Nordlys Festival", Accent: "#1fd3a5", Background: "#0b1f3a", Font: "Georgia, serif", HelpURL: "https://nordlys.example/help"}
	notSent.Identity = own.Identity
	left := queued
	left.ItemsLeftKnown, left.ItemsLeft = true, 37
	items := left
	items.Items = `[{"name":"Standing","price":"49 €","left":37},{"name":"Seat, gallery","price":"89 €","left":0,"soldOut":true},{"name":"Parking"}]`
	return []State{
		{"left", left},
		{"items", items},
		{"sold out", Data{RoomName: "shop", QueueingMethod: methodFIFO, SoldOut: true, ItemsLeftKnown: true}},
		{"held", Data{RoomName: "shop", QueueingMethod: methodFIFO, Held: true, QueueAll: true}},
		{"fifo, rejoined", rejoined},
		{"fifo, identity", own},
		{"not sent", notSent},
		{"not sent, reject", Data{RoomName: "shop", QueueingMethod: methodReject, NotSent: true}},
	}
}

func fifoStates() []State {
	fifo := func(wait, ahead int) Data {
		return Data{
			RoomName: "shop", QueueingMethod: methodFIFO, WaitTimeKnown: true, WaitTime: wait,
			UsersAheadKnown: true, UsersAhead: ahead, UsersQueued: ahead + 40,
		}
	}
	full := fifo(0, 25_000)
	full.QueueIsFull, full.WaitTimeKnown = true, false
	return []State{
		{"fifo", fifo(12, 214)},
		{"fifo, first seconds", Data{RoomName: "shop", QueueingMethod: methodFIFO, UsersQueued: 1}},
		{"fifo, next in line", fifo(0, 0)},
		{"fifo, one minute", fifo(1, 6)},
		{"fifo, hours", fifo(95, 12_034)},
		{"fifo, whole hours", fifo(120, 15_200)},
		{"fifo, longer than told", fifo(600, 120_000)},
		{"fifo, wait unknown", Data{
			RoomName: "shop", QueueingMethod: methodFIFO, UsersAheadKnown: true, UsersAhead: 214, UsersQueued: 254,
		}},
		{"fifo, full", full},
	}
}

func randomStates() []State {
	random := func(p25, p50, p75 int) Data {
		return Data{
			RoomName: "shop", QueueingMethod: methodRandom, WaitTimeKnown: true, WaitTime: p50, UsersQueued: 950,
			WaitTime25Percentile: p25, WaitTime50Percentile: p50, WaitTime75Percentile: p75,
		}
	}
	return []State{
		{"random", random(5, 10, 15)},
		{"random, one figure", random(1, 1, 1)},
		{"random, longer than told", random(120, 280, 560)},
		{"random, wait unknown", Data{RoomName: "shop", QueueingMethod: methodRandom, UsersQueued: 950}},
	}
}

func lineStates() []State {
	unplaced := lineData(7, 0)
	unplaced.Place.Position = 0
	return []State{
		{"line", lineData(7, 2)},
		{"line, next", lineData(1, 1)},
		{"line, hours", lineData(380, 95)},
		{"line, whole hours", lineData(240, 60)},
		{"line, longer than told", lineData(400, 300)},
		{"line, wait unknown", lineData(7, 0)},
		{"line, place unknown", unplaced.resolved()},
	}
}

// lineData is the state of a visitor at a position in an exact line; the wait is
// unknown if it is zero.
func lineData(position, wait int) Data {
	return Data{
		RoomName: "shop", QueueingMethod: methodLine,
		Place: Place{
			TicketNumber: 1209 + uint64(position), FirstWaitingNumber: 1210, LastWaitingNumber: 1650, Position: position,
			UsersQueued: 412, WaitTimeKnown: wait > 0, WaitTime: wait,
		},
	}.resolved()
}

// heldStates are the states of a room that lets in nobody new.
func heldStates() []State {
	held := func(method string) Data {
		return Data{RoomName: "shop", QueueingMethod: method, QueueAll: true, UsersQueued: 310}
	}
	line := lineData(7, 2)
	line.QueueAll = true
	paused := fifoStates()[0].Data
	paused.Paused, paused.WaitTimeKnown, paused.WaitTime, paused.PausedSince = true, false, 0, "2020-08-03T23:40:00Z"
	return []State{
		{"paused", paused},
		{"queue all", held(methodFIFO)},
		{"queue all, line", line.resolved()},
		{"queue all, random", held(methodRandom)},
		{"queue all, passthrough", held(methodPassthrough)},
		{"queue all, reject", held(methodReject)},
	}
}

// MadeUp is somebody who is shown a page in a state of [States], for previews: they came three minutes
// before now.
func MadeUp(now time.Time, d Data) Visitor {
	return Visitor{LastUpdated: now, ArrivedAt: now.Add(-3 * time.Minute), RefreshSeconds: 20, LeftSeconds: 20, Place: d.Place, Entry: "4F7KQ2M9", SupportCode: SupportCode([]byte("7F3K-Q2M9"))}
}

package templates

import "slices"

// State is a state of a room by name, for previews and checks.
type State struct {
	Name string
	Data Data
}

// States lists every state in which a template should be checked.
func States() []State {
	return slices.Concat(fifoStates(), randomStates(), lineStates(), heldStates(), []State{
		{"reject", Data{RoomName: "shop", QueueingMethod: methodReject}},
	}, toldStates())
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
	own.Identity = Identity{SiteName: "Nordlys Festival", Accent: "#1fd3a5", HelpURL: "https://nordlys.example/help"}
	notSent.Identity = own.Identity
	return []State{
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
			UsersAheadKnown: true, UsersAhead: ahead, UsersQueued: ahead + 40, ArrivalBucket: "2020-08-03T23:41:00Z",
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
	paused.Paused, paused.WaitTimeKnown, paused.WaitTime = true, false, 0
	return []State{
		{"paused", paused},
		{"queue all", held(methodFIFO)},
		{"queue all, line", line.resolved()},
		{"queue all, random", held(methodRandom)},
		{"queue all, passthrough", held(methodPassthrough)},
		{"queue all, reject", held(methodReject)},
	}
}

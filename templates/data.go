package templates

// Names of the queueing methods as templates and JSON tell them.
const (
	methodFIFO        = "fifo"
	methodRandom      = "random"
	methodPassthrough = "passthrough"
	methodReject      = "reject"
)

// longWait is the longest wait, in minutes, that is told as a number; beyond
// it the built-in page says "more than 4 hours".
const longWait = 240

// Data is the state of a room as one group of queued visitors is told of it.
// It holds nothing that is one visitor's own, so that everyone in the same
// state shares one rendered page. It is comparable and can be the key of a
// map of rendered pages.
//
// What contradicts itself is resolved towards saying less: numbers below zero
// count as zero, and numbers that are not known, or that do not belong to the
// queueing method, are told as zero.
type Data struct {
	// RoomName is the configured name of the room.
	RoomName string
	// QueueingMethod is "fifo", "random", "passthrough" or "reject"; "" means "fifo".
	QueueingMethod string
	// QueueAll says that nobody new is let in, whatever the method.
	QueueAll bool
	// QueueIsFull says that the queue takes no new visitors.
	QueueIsFull bool

	// WaitTimeKnown says that the wait times below are estimates to be told.
	WaitTimeKnown bool
	// WaitTime is the estimated wait in minutes, rounded up. For the random
	// method WaitTime50Percentile is told in its place.
	WaitTime int
	// WaitTime25Percentile, WaitTime50Percentile and WaitTime75Percentile are
	// the minutes after which that share of visitors is in; random only.
	WaitTime25Percentile, WaitTime50Percentile, WaitTime75Percentile int

	// UsersAheadKnown says that UsersAhead is true.
	UsersAheadKnown bool
	// UsersAhead is the number of visitors present in line before this one.
	UsersAhead int
	// UsersQueued is the number of visitors present in the line altogether.
	UsersQueued int
}

// Refreshes reports whether visitors in this state are to check in again.
// Only a room that rejects, and is not held by QueueAll, sends them away.
func (d Data) Refreshes() bool {
	return d.QueueAll || d.QueueingMethod != methodReject
}

// resolved returns d with its contradictions resolved as Data describes.
func (d Data) resolved() Data {
	if d.QueueingMethod == "" {
		d.QueueingMethod = methodFIFO
	}
	if d.QueueAll || !d.Refreshes() {
		d.WaitTimeKnown = false
	}
	if !d.Refreshes() {
		d.UsersAheadKnown = false
	}
	if !d.UsersAheadKnown {
		d.UsersAhead = 0
	}
	d.UsersAhead = max(d.UsersAhead, 0)
	d.UsersQueued = max(d.UsersQueued, 0)
	return d.resolvedWait()
}

func (d Data) resolvedWait() Data {
	random := d.WaitTimeKnown && d.QueueingMethod == methodRandom
	if !random {
		d.WaitTime25Percentile, d.WaitTime50Percentile, d.WaitTime75Percentile = 0, 0, 0
	}
	if !d.WaitTimeKnown {
		d.WaitTime = 0
		return d
	}
	d.WaitTime = max(d.WaitTime, 0)
	if random {
		d.WaitTime25Percentile = max(d.WaitTime25Percentile, 0)
		d.WaitTime50Percentile = max(d.WaitTime50Percentile, d.WaitTime25Percentile)
		d.WaitTime75Percentile = max(d.WaitTime75Percentile, d.WaitTime50Percentile)
		d.WaitTime = d.WaitTime50Percentile
	}
	return d
}

// isLong reports whether the wait is beyond what is told as a number.
func (d Data) isLong() bool { return d.WaitTime > longWait }

// isRange reports whether the wait is told as a span of minutes.
func (d Data) isRange() bool {
	return d.WaitTime75Percentile > d.WaitTime25Percentile && !d.isLong()
}

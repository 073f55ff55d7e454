package templates

// longWait is the longest wait, in minutes, that pages write as a number. For a longer one
// the built-in page says "more than 4 hours".
const longWait = 240

// Data is the state of a room for a group of queued visitors. All visitors in the same
// state share one rendered page. In an exact line each visitor has a place of their own:
// there those share a page whose places have the same [Place.Shape], and
// [Rendered.AppendTo] fills in their own numbers. Data is comparable.
//
// Where Data contradicts itself, the page says less: numbers below zero count as zero, and
// numbers that are not known, or that do not belong to the queueing method, are shown as
// zero.
type Data struct {
	// RoomName is the configured name of the room.
	RoomName string
	// QueueingMethod is "fifo", "random", "line", "passthrough" or "reject"; ""
	// means "fifo".
	QueueingMethod string
	// QueueAll says that nobody new is let in, whatever the method.
	QueueAll bool
	// Paused says that nobody new is let in until the site answers again.
	Paused bool
	// PausedSince is since when nobody new is let in, in RFC 3339; "" where that is not known.
	PausedSince string
	// QueueIsFull says that the queue takes no new visitors, as it does where nobody waits: see
	// [Data.Refreshes].
	QueueIsFull bool

	// WaitTimeKnown says that the wait times below are estimates, and can be shown.
	WaitTimeKnown bool
	// WaitTime is the estimated wait in minutes, rounded up. For the random
	// method WaitTime50Percentile is shown in its place.
	WaitTime int
	// WaitTime25Percentile, WaitTime50Percentile and WaitTime75Percentile are the minutes
	// within which that share of the visitors is let in; random only.
	WaitTime25Percentile, WaitTime50Percentile, WaitTime75Percentile int

	// UsersAheadKnown says that UsersAhead is known.
	UsersAheadKnown bool
	// UsersAhead is the number of visitors present in line before this one.
	UsersAhead int
	// UsersQueued is the number of visitors present in the line altogether.
	UsersQueued int

	// ClaimWithinSeconds is for how long a slot is kept for visitors whose page is hidden; 0
	// where their sessions begin at once.
	ClaimWithinSeconds int
	// ClaimRequired says that a slot is kept for the visitors until they look at their page.
	ClaimRequired bool

	// PlaceKeptSeconds is how long after a check-in a visitor can come back to the place; 0 is
	// not known.
	PlaceKeptSeconds int
	// Far says that the visitors are far from the head of the line: they ask from time to time, and
	// have no stream of events.
	Far bool
	// Rejoined says that the visitors have come back too late for the place that they had, and
	// have a new one.
	Rejoined bool
	// NotSent says that the page answers a form that was sent, and that the site did not get it.
	NotSent bool

	// Held says that the visitors are in, and that those who are in are held.
	Held bool
	// SoldOut says that the visitors are sent away because nothing is left.
	SoldOut bool
	// ItemsLeftKnown says that ItemsLeft is known: how much there is left, by the site.
	ItemsLeftKnown bool
	ItemsLeft      int
	// Items are what there is to buy: a list in JSON, as the field items has it, or "" for none.
	Items string

	// Message is what the operator tells everyone who waits; "" for nothing.
	Message string
	// Identity is what the pages show of the site.
	Identity Identity

	// Event is the event that the room goes by; the zero Event is none.
	Event Event
	// Drawn says that the visitors have entries in the draw of the event's shuffled prequeue.
	Drawn bool

	// Place is the visitor's place in the line, where the method keeps order. If it is not
	// zero, it replaces the wait and the people ahead and queued above.
	Place Place
}

// Event is an event from the start of its prequeue to its end.
type Event struct {
	// Start and End are when it starts and ends, in RFC 3339.
	Start, End string
	// Prequeueing says that it has not started, and that everyone new is held until it does.
	Prequeueing bool
	// UntilStart and UntilEnd are the minutes that are left, rounded up; UntilStart while
	// Prequeueing.
	UntilStart, UntilEnd int
	// Shuffle says that those who come in the prequeue have places in a random order. The SHA-256
	// of the seed that the order follows from is SeedHash; Seed is "" until the order is known.
	Shuffle        bool
	SeedHash, Seed string
}

// Refreshes reports whether visitors in this state should check in again. Only a room that
// rejects, without QueueAll and before the start of no event, or that is SoldOut, sends them away.
func (d Data) Refreshes() bool {
	if d.Held || d.SoldOut {
		return d.Held
	}
	return d.QueueAll || d.Event.Prequeueing || !d.nobodyEnters()
}

// counts reports whether visitors in this state are counted in a bucket: they are not once a slot
// is theirs.
func (d Data) counts() bool { return d.Refreshes() && !d.Held && !d.ClaimRequired }

// resolved returns d with its contradictions resolved as Data describes.
func (d Data) resolved() Data {
	if d.QueueingMethod == "" {
		d.QueueingMethod = methodFIFO
	}
	if d.Held || d.SoldOut {
		d.Place, d.UsersAheadKnown, d.Rejoined, d.PlaceKeptSeconds = Place{}, false, false, 0
	}
	d.Event = d.Event.resolved()
	if !d.admissionsPaused() {
		d.PausedSince = ""
	}
	d.Far = d.Far && d.counts()
	d = d.placed()
	d.SoldOut = d.SoldOut && !d.Held
	if !d.ItemsLeftKnown {
		d.ItemsLeft = 0
	}
	d.ItemsLeft = max(d.ItemsLeft, 0)
	if d.admissionsPaused() || d.Held || !d.Refreshes() {
		d.WaitTimeKnown = false
	}
	if !d.Refreshes() {
		d.UsersAheadKnown, d.Rejoined, d.PlaceKeptSeconds = false, false, 0
	}
	d.PlaceKeptSeconds = max(d.PlaceKeptSeconds, 0)
	if !d.UsersAheadKnown {
		d.UsersAhead = 0
	}
	d.UsersAhead = max(d.UsersAhead, 0)
	d.UsersQueued = max(d.UsersQueued, 0)
	return d.resolvedWait()
}

// resolved returns e without contradictions, as Data describes.
func (e Event) resolved() Event {
	if e.End == "" {
		return Event{}
	}
	if !e.Prequeueing {
		e.UntilStart = 0
	}
	e.UntilStart, e.UntilEnd = max(e.UntilStart, 0), max(e.UntilEnd, 0)
	return e
}

// countsDown reports whether the page tells when the event starts.
func (d Data) countsDown() bool { return d.Event.Prequeueing && !d.QueueAll && !d.Held && !d.SoldOut }

// placed returns d with the numbers of its Place, or without a Place where the
// method keeps no order. An exact line knows nobody without a place.
func (d Data) placed() Data {
	p := d.Place.resolved()
	if !d.hasExactLine() && (!d.ordersBuckets() || p == Place{}) {
		d.Place = Place{}
		return d
	}
	d.Place, d.WaitTimeKnown, d.WaitTime = p, p.WaitTimeKnown, p.WaitTime
	d.UsersAheadKnown, d.UsersAhead, d.UsersQueued = p.Position > 0, p.ahead(), p.UsersQueued
	return d
}

func (d Data) resolvedWait() Data {
	random := d.WaitTimeKnown && d.draws()
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

// position is the visitor's position in line: 1 is next, 0 is unknown. It is exact in an
// exact line only. d has to be resolved.
func (d Data) position() (n int, exact bool) {
	if !d.UsersAheadKnown {
		return 0, false
	}
	return d.UsersAhead + 1, d.hasExactLine()
}

// isLong reports whether the wait is too long to be written as a number.
func (d Data) isLong() bool { return d.WaitTime > longWait }

// isShort reports whether the wait is under a minute.
func (d Data) isShort() bool { return d.WaitTimeKnown && d.WaitTime <= 1 }

// admissionsPaused reports whether nobody new is let in for now.
func (d Data) admissionsPaused() bool {
	return (d.QueueAll || d.Paused || d.Event.Prequeueing) && !d.SoldOut
}

// pausedBy is who or what has it that nobody new is let in: "operators", "site", "start" or "".
func (d Data) pausedBy() string {
	switch {
	case !d.admissionsPaused():
		return ""
	case d.QueueAll:
		return "operators"
	case d.Paused:
		return "site"
	}
	return "start"
}

// isPaused reports whether the page says that nobody is let in, and not when.
func (d Data) isPaused() bool {
	return d.admissionsPaused() && d.Refreshes() && !d.Held && !d.countsDown()
}

// isRange reports whether the wait is written as a span of minutes.
func (d Data) isRange() bool {
	return d.WaitTime75Percentile > d.WaitTime25Percentile && !d.isLong()
}

package queue

// Method is how a room chooses among those who wait. What the methods differ in are facts with a
// name: code asks for the fact that it goes by, not for the method.
type Method uint8

// The queueing methods; the zero value is FIFO.
const (
	FIFO        Method = iota // earlier buckets first
	Random                    // an equal chance at every check-in
	Line                      // first come, first served, to the individual
	Passthrough               // everyone enters, and is counted
	Reject                    // nobody enters
)

// fact is something that is true of some methods; a method's facts are a set of them.
type fact uint8

const (
	ordersBuckets fact = 1 << iota
	hasExactLine
	draws
	everyoneEnters
	nobodyEnters
)

var methodFacts = [...]fact{
	FIFO:        ordersBuckets,
	Random:      draws,
	Line:        hasExactLine,
	Passthrough: everyoneEnters,
	Reject:      nobodyEnters,
}

// has reports whether some of the facts are true of the method.
func (m Method) has(facts fact) bool {
	return int(m) < len(methodFacts) && methodFacts[m]&facts != 0
}

// OrdersBuckets reports whether the visitors of an earlier bucket are ahead of those of a later
// one, and those of one bucket are equal.
func (m Method) OrdersBuckets() bool { return m.has(ordersBuckets) }

// HasExactLine reports whether each visitor has a number of their own, in an exact line that the
// store keeps. Every check-in is put to the store, and a place is lost after line_dropout, not
// after queue_ticket_ttl.
func (m Method) HasExactLine() bool { return m.has(hasExactLine) }

// KeepsOrder reports whether those who came earlier are ahead: by their bucket, or by their number.
func (m Method) KeepsOrder() bool { return m.has(ordersBuckets | hasExactLine) }

// Draws reports whether every check-in is a draw: of those who have come back nobody is ahead of
// anybody, and an open slot goes to whoever checks in next.
func (m Method) Draws() bool { return m.has(draws) }

// EveryoneEnters reports whether everyone is let in, whatever the limits say. See
// [Settings.AdmitsEveryone] for a room with queue_all.
func (m Method) EveryoneEnters() bool { return m.has(everyoneEnters) }

// NobodyEnters reports whether nobody new is let in. See [Settings.AdmitsNobody] for a room with
// queue_all.
func (m Method) NobodyEnters() bool { return m.has(nobodyEnters) }

var methodNames = []string{"fifo", "random", "line", "passthrough", "reject"}

// Choices returns the names of all methods.
func (Method) Choices() []string { return methodNames }

// String returns the method's name as configuration files spell it.
func (m Method) String() string { return nameOf(methodNames, int(m)) }

// MarshalText returns the method's name.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText accepts the names that String returns.
func (m *Method) UnmarshalText(text []byte) error {
	return choose(m, methodNames, "queueing method", text)
}

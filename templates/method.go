package templates

// Names of the queueing methods in templates and JSON.
const (
	methodFIFO        = "fifo"
	methodRandom      = "random"
	methodLine        = "line"
	methodPassthrough = "passthrough"
	methodReject      = "reject"
)

// What the methods differ in are facts with a name: all else in this package asks for the fact that
// it goes by, not for the method.

// ordersBuckets reports whether visitors of an earlier bucket are ahead.
func (d Data) ordersBuckets() bool { return d.QueueingMethod == methodFIFO }

// draws reports whether every check-in is a draw.
func (d Data) draws() bool { return d.QueueingMethod == methodRandom }

// hasExactLine reports whether each visitor has a number of their own.
func (d Data) hasExactLine() bool { return d.QueueingMethod == methodLine }

func (d Data) everyoneEnters() bool { return d.QueueingMethod == methodPassthrough }

func (d Data) nobodyEnters() bool { return d.QueueingMethod == methodReject }

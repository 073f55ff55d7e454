package route

import (
	"fmt"
	"strconv"
	"strings"
)

// Fault is something that is wrong with a room's routes or with a rule.
type Fault struct {
	// Index is the room or the rule, in the order they were given.
	Index int

	// Key is the setting, from the room or rule down: "routes[1].path",
	// "match.cidr[0]".
	Key string

	// Value is what was given, where Problem continues a sentence that begins with it.
	Value string

	// Problem says what is wrong, without naming the setting.
	Problem string
}

// Faults are all that is wrong, in the order of what was given. As an error
// they are a line each. An empty Faults is no error.
type Faults []Fault

// Error returns a line for every fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fmt.Sprintf("%d: %s: ", fault.Index, fault.Key)
		if fault.Value != "" {
			lines[i] += strconv.Quote(fault.Value) + " "
		}
		lines[i] += fault.Problem
	}
	return strings.Join(lines, "\n")
}

// err returns the faults as an error, which is nil when there are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

func (f *Faults) add(index int, key, value, format string, args ...any) {
	*f = append(*f, Fault{Index: index, Key: key, Value: value, Problem: fmt.Sprintf(format, args...)})
}

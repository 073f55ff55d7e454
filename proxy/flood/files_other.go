//go:build !unix

package flood

import "math"

// openFiles is how many files this process may have open, where the system has no such limit.
func openFiles() int { return math.MaxInt32 }

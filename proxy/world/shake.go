package world

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// shaken is set by a test that has goroutines give way: see shake.
var shaken atomic.Bool

// shake has the caller give way to others of its moment, one time in four, if worlds are shaken.
func shake() {
	if shaken.Load() && rand.IntN(4) == 0 {
		runtime.Gosched()
	}
}

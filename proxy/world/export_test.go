package world

// Shake has goroutines of worlds give way to others of their moment, at random, until stop is
// called: as the runtime has them do on a busy machine.
func Shake() (stop func()) {
	shaken.Store(true)
	return func() { shaken.Store(false) }
}

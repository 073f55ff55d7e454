//go:build !linux

package redistest

import "os"

// live starts the process and waits for its end.
func (s *Server) live(started chan<- error, log *os.File) { s.wait(started, log) }

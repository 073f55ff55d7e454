package redistest

import (
	"os"
	"runtime"
	"syscall"
)

// live starts the process and waits for its end. Should the test die without
// its cleanups, the process dies with the thread that started it.
func (s *Server) live(started chan<- error, log *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.wait(started, log)
}

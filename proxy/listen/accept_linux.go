package listen

import (
	"net"
	"syscall"
	"time"
)

// acceptLater has the system hand connections to the server once something was sent on them, or
// after the patience. So a crowd of new connections waits in the system and not in the server,
// where those who are in would wait behind all of it.
func acceptLater(l net.Listener, patience time.Duration) {
	of, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := of.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // where it is not possible, they come at once
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_DEFER_ACCEPT, int(patience.Seconds()))
	})
}

package listen

import (
	"net"
	"syscall"
	"time"
)

// userTimeout is Linux's TCP_USER_TIMEOUT, in milliseconds.
const userTimeout = 0x12

// limitUnconfirmed bounds how long what was sent may be unconfirmed. Without it that is a quarter
// of an hour, in which the system sends no keep-alive probes.
func limitUnconfirmed(c *net.TCPConn, timeout time.Duration) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(timeout.Milliseconds()))
	})
}

package listen

import (
	"net"
	"time"
)

// missDead has the system end a connection whose other side has not been heard of for about the timeout, though it was
// asked or sent something. A connection of another kind, or one that has ended already, is left as it is.
func missDead(c net.Conn, timeout time.Duration) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	const probes = 3
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: timeout / 2, Interval: timeout / 2 / probes, Count: probes})
	limitUnconfirmed(tcp, timeout)
}

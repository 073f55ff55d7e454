package listen

import (
	"net"
	"time"
)

// missDead has the system end a TCP connection if the other side has not answered for about the
// timeout, neither to what was sent nor to a keep-alive probe. It does nothing to a connection of
// another kind, or one that has ended already.
func missDead(c net.Conn, timeout time.Duration) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	const probes = 3
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: timeout / 2, Interval: timeout / 2 / probes, Count: probes})
	limitUnconfirmed(tcp, timeout)
}

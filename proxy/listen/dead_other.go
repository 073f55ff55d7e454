//go:build !linux

package listen

import (
	"net"
	"time"
)

// limitUnconfirmed does nothing: the system decides for how long it sends again what nobody
// confirms.
func limitUnconfirmed(*net.TCPConn, time.Duration) {}

//go:build !linux

package listen

import (
	"net"
	"time"
)

// limitUnconfirmed leaves it to the system how long it sends again what nobody confirms.
func limitUnconfirmed(*net.TCPConn, time.Duration) {}

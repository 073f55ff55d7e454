//go:build !linux

package listen

import (
	"net"
	"time"
)

// acceptLater does nothing: the system hands connections to the server at once.
func acceptLater(net.Listener, time.Duration) {}

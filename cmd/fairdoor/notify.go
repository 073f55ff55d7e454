package main

import (
	"net"
	"os"

	"go.uber.org/zap"
)

// What the service manager is told, in the words of sd_notify(3).
const (
	notifyReady    = "READY=1"
	notifyStopping = "STOPPING=1"
)

// notify tells the service manager how the gate stands, where there is one that listens, as systemd
// with Type=notify.
func (s *server) notify(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := net.Dial("unixgram", socket)
	if err == nil {
		defer conn.Close()
		_, err = conn.Write([]byte(state))
	}
	if err != nil {
		s.log.Warn("the service manager could not be told", zap.String("state", state), zap.Error(err))
	}
}

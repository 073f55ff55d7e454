package feature

import (
	"bufio"
	"net"
	"net/http"
)

// Noted is a writer of an answer that notes its status and how many bytes its body has.
type Noted struct {
	http.ResponseWriter
	Status int // 0 until there is one
	Bytes  int64
}

// WriteHeader notes the status.
func (n *Noted) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		n.Status = status
	}
	n.ResponseWriter.WriteHeader(status)
}

// Write counts what is written.
func (n *Noted) Write(p []byte) (int, error) {
	if n.Status == 0 {
		n.Status = http.StatusOK
	}
	written, err := n.ResponseWriter.Write(p)
	n.Bytes += int64(written)
	return written, err
}

// Hijack implements [http.Hijacker]: who takes over a connection answers on it that protocols are
// switched.
func (n *Noted) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(n.ResponseWriter).Hijack()
	if err == nil && n.Status == 0 {
		n.Status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// Unwrap has http.ResponseController find the writer's other methods.
func (n *Noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

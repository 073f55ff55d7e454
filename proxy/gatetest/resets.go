package gatetest

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Resets are streams of HTTP/2 that are reset as soon as they are opened.
type Resets struct {
	*http2.Framer
	Header   []byte
	Answered int // before they were reset
}

// OpenResets opens a connection of HTTP/2 to a gate, for streams that are reset.
func OpenResets(t *testing.T, f *Fixture, more ...[2]string) *Resets {
	secure := httptest.NewUnstartedServer(f.Gate)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	conn, err := tls.Dial("tcp", secure.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(2*Patience)))
	_, err = io.WriteString(conn, http2.ClientPreface)
	require.NoError(t, err)
	var header bytes.Buffer
	to := hpack.NewEncoder(&header)
	fields := [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "shop.test"}, {":path", "/"}, {"accept", "application/json"}}
	for _, field := range append(fields, more...) {
		require.NoError(t, to.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	s := &Resets{Framer: http2.NewFramer(conn, conn), Header: header.Bytes()}
	require.NoError(t, s.WriteSettings())
	return s
}

// Open opens the n-th stream, resets it, and waits until the server has read that.
func (s *Resets) Open(t *testing.T, n int) {
	id := uint32(2*n + 1)
	require.NoError(t, s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.Header, EndStream: true, EndHeaders: true}))
	require.NoError(t, s.WriteRSTStream(id, http2.ErrCodeCancel))
	require.NoError(t, s.WritePing(false, [8]byte{}))
	for {
		frame, err := s.ReadFrame()
		require.NoError(t, err)
		switch f := frame.(type) {
		case *http2.HeadersFrame:
			s.Answered++
		case *http2.PingFrame:
			if f.IsAck() {
				return
			}
		}
	}
}

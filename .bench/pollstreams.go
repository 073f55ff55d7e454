package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// The windows of a connection of a flood, in bytes: nothing that is asked for fills them.
const (
	streamWindow     = 1 << 20
	connectionWindow = 1 << 30
)

// manyStreams is a connection of a flood by HTTP/2.
type manyStreams struct {
	*polls
	framer  *http2.Framer
	out     *bufio.Writer
	fields  *hpack.Encoder
	header  *bytes.Buffer
	first   int            // the number of its first visitor
	tickets []string       // the newest of each visitor
	of      map[uint32]int // whose the open streams are
	next    uint32         // stream
	window  int            // bytes that have come since the connection's window was last opened
}

// connectionOfStreams is connection by HTTP/2: a stream for each ticket, and another one when it has ended.
func (p *polls) connectionOfStreams(ctx context.Context, i int, tickets []string) error {
	raw, err := p.dial(ctx, i)
	if err != nil {
		return err
	}
	p.Open.Add(1)
	defer p.Open.Add(-1)
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	defer func() { _ = conn.Close() }()
	in, out := bufio.NewReaderSize(conn, 16<<10), bufio.NewWriterSize(conn, 16<<10)
	m := &manyStreams{polls: p, framer: http2.NewFramer(out, in), out: out, header: new(bytes.Buffer), first: i * len(tickets), tickets: tickets, of: map[uint32]int{}, next: 1}
	m.fields = hpack.NewEncoder(m.header)
	m.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err = io.WriteString(out, http2.ClientPreface)
	err = errors.Join(err, m.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow}), m.framer.WriteWindowUpdate(0, connectionWindow))
	for v := range tickets {
		err = errors.Join(err, m.open(v))
	}
	for err == nil && ctx.Err() == nil {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		err = m.take()
	}
	p.Closed.Add(int64(len(m.of)))
	return err
}

// open has a visitor of the connection ask.
func (m *manyStreams) open(v int) error {
	m.header.Reset()
	cookies := siteCookies
	if m.tickets[v] != "" {
		cookies += "; " + m.tickets[v]
	}
	fields := []header{{":method", "GET"}, {":scheme", "https"}, {":authority", m.addr}, {":path", m.target}}
	for _, h := range append(append(fields, m.headers...), header{"cookie", cookies}) {
		if err := m.fields.WriteField(hpack.HeaderField{Name: strings.ToLower(h.name), Value: h.value}); err != nil {
			return err
		}
	}
	id := m.next
	m.next += 2
	m.of[id] = v
	return m.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: m.header.Bytes(), EndStream: true, EndHeaders: true})
}

// take reads a frame, and has its visitor ask again if their stream has ended.
func (m *manyStreams) take() error {
	frame, err := m.framer.ReadFrame()
	if err != nil {
		return err
	}
	id, over := frame.Header().StreamID, false
	switch f := frame.(type) {
	case *http2.PingFrame:
		return m.framer.WritePing(true, f.Data)
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return m.framer.WriteSettingsAck()
		}
	case *http2.GoAwayFrame:
		return errors.New("the connection is to end")
	case *http2.RSTStreamFrame:
		m.Closed.Add(1)
		over = true
	case *http2.MetaHeadersFrame:
		m.note(f)
		over = f.StreamEnded()
	case *http2.DataFrame:
		if m.window += len(f.Data()); m.window > connectionWindow/2 {
			if err := m.framer.WriteWindowUpdate(0, uint32(m.window)); err != nil {
				return err
			}
			m.window = 0
		}
		over = f.StreamEnded()
	}
	if v, open := m.of[id]; over && open {
		delete(m.of, id)
		return m.open(v)
	}
	return nil
}

// note keeps the ticket that an answer brings.
func (m *manyStreams) note(f *http2.MetaHeadersFrame) {
	m.Answered.Add(1)
	v, open := m.of[f.StreamID]
	if !open || !m.keeps(m.first+v) {
		return
	}
	for _, h := range f.RegularFields() {
		if h.Name == "set-cookie" {
			m.tickets[v], _, _ = strings.Cut(h.Value, ";")
		}
	}
}

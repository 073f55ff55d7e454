package accesslog

import (
	"bytes"
	"context"
	"sync/atomic"

	"go.uber.org/zap/zapcore"
)

// mostLines is how many lines wait to be written at most.
const mostLines = 4096

// lines are those that wait to be written, by one goroutine: a disk or a pipe that takes nothing
// holds up no request, and lines are left out then.
type lines struct {
	to   zapcore.WriteSyncer
	wait chan []byte
	lost atomic.Int64
}

func newLines(to zapcore.WriteSyncer) *lines {
	return &lines{to: to, wait: make(chan []byte, mostLines)}
}

// Write implements [zapcore.WriteSyncer]. It never waits.
func (l *lines) Write(line []byte) (int, error) {
	select {
	case l.wait <- bytes.Clone(line):
	default:
		l.lost.Add(1)
	}
	return len(line), nil
}

// Sync does nothing: no line is held back.
func (*lines) Sync() error { return nil }

// write writes lines until ctx has ended, and then those that wait. It returns how many were left
// out.
func (l *lines) write(ctx context.Context) (lost int64) {
	for {
		select {
		case line := <-l.wait:
			l.put(line)
			continue
		case <-ctx.Done():
		}
		for {
			select {
			case line := <-l.wait:
				l.put(line)
			default:
				return l.lost.Load()
			}
		}
	}
}

func (l *lines) put(line []byte) {
	if _, err := l.to.Write(line); err != nil {
		l.lost.Add(1)
	}
}

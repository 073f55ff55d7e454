package accesslog

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

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

// tellEvery is how often it is told at most that lines are left out.
const tellEvery = time.Minute

// write writes lines until ctx has ended, and then those that wait. It tells how many have been left
// out, as that begins and once a minute while it goes on.
func (l *lines) write(ctx context.Context, now func() time.Time, tell func(lost int64)) {
	var at time.Time // when it told last
	var told int64
	put := func(line []byte) {
		if _, err := l.to.Write(line); err != nil {
			l.lost.Add(1)
		}
		if lost := l.lost.Load(); lost > told && now().Sub(at) >= tellEvery {
			told, at = lost, now()
			tell(lost)
		}
	}
	for {
		select {
		case line := <-l.wait:
			put(line)
			continue
		case <-ctx.Done():
		}
		for {
			select {
			case line := <-l.wait:
				put(line)
			default:
				return
			}
		}
	}
}

package main

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// progress is a bar on a terminal. Without a terminal it draws nothing.
type progress struct {
	out         io.Writer
	done, total []atomic.Int64 // of each part
	end, ended  chan struct{}  // nil without a terminal
}

func startProgress(out io.Writer, parts int) *progress {
	p := &progress{out: out, done: make([]atomic.Int64, parts), total: make([]atomic.Int64, parts)}
	if !isTerminal(out) {
		return p
	}
	p.end, p.ended = make(chan struct{}), make(chan struct{})
	go p.draw()
	return p
}

// part returns the function that one of the experiments calls with its progress.
func (p *progress) part(i int) func(done, total int) {
	return func(done, total int) {
		p.done[i].Store(int64(done))
		p.total[i].Store(int64(total))
	}
}

// stop removes the bar from the terminal.
func (p *progress) stop() {
	if p.end != nil {
		close(p.end)
		<-p.ended
	}
}

func (p *progress) draw() {
	defer close(p.ended)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.end:
			_, _ = io.WriteString(p.out, "\r\x1b[K")
			return
		case <-tick.C:
			_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s", p.bar())
		}
	}
}

// bar returns the bar for all parts together.
func (p *progress) bar() string {
	const length = 40
	done, total := int64(0), int64(0)
	for i := range p.done {
		done, total = done+p.done[i].Load(), total+p.total[i].Load()
	}
	part := done * length / max(1, total)
	return fmt.Sprintf("%s%s %3d %%", strings.Repeat("█", int(part)), strings.Repeat("░", int(length-part)), 100*done/max(1, total))
}

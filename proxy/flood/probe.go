package flood

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// probe is a pipe from the server to itself. A byte in it waits as a request does: until the system
// is asked what has come, and then behind all goroutines that can run.
type probe struct {
	in, out *os.File
	start   time.Time
	sent    atomic.Int64 // when the byte was sent that is under way, in nanoseconds since start; 0 for none
	took    atomic.Int64 // of the last byte that has come, in nanoseconds
	reading sync.WaitGroup
}

func newProbe() (*probe, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	p := &probe{in: in, out: out, start: time.Now()}
	p.reading.Go(p.read)
	return p, nil
}

// late is how long the byte took that the last call has sent, or has taken until now. It sends
// another one when that has come.
func (p *probe) late() time.Duration {
	if sent := p.sent.Load(); sent != 0 {
		return p.now() - time.Duration(sent)
	}
	p.sent.Store(int64(p.now()))
	_, _ = p.in.Write([]byte{0}) // an open pipe has room for a byte
	return time.Duration(p.took.Load())
}

// now is the time since the start, and never 0.
func (p *probe) now() time.Duration { return max(time.Since(p.start), 1) }

// read takes the bytes that come, until the pipe is closed.
func (p *probe) read() {
	var b [1]byte
	for {
		if _, err := p.out.Read(b[:]); err != nil {
			return
		}
		p.took.Store(int64(p.now()) - p.sent.Load())
		p.sent.Store(0)
	}
}

func (p *probe) close() {
	_ = p.in.Close()
	p.reading.Wait()
	_ = p.out.Close()
}

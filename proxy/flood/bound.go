package flood

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// reportEvery is how often a flood is logged while it lasts.
	reportEvery = 10 * time.Second

	// quiet is after how long without anybody who waits the server stops looking how late it is.
	quiet = 10 * time.Second
)

// Bound is the bound of a server on what those who have to wait may take of it. New makes it, and
// Close ends it.
type Bound struct {
	log      *zap.Logger
	late     func() time.Duration // nil: it is measured
	pressure pressure
	pen      pen                 // of connections
	streams  pen                 // of streams
	shed     [kinds]atomic.Int64 // since the last report
	looking  atomic.Bool

	mu       sync.Mutex
	stop     chan struct{} // closed by Close
	closed   bool
	tasks    sync.WaitGroup // looking
	reported time.Time      // of the looks alone
}

// New returns a bound. Late tells how late requests are; nil has the bound measure it. It logs to
// the log when requests are shed.
func New(late func() time.Duration, log *zap.Logger) *Bound {
	return &Bound{late: late, log: log, stop: make(chan struct{}), streams: pen{most: mostStreams}}
}

// Close ends the bound: nobody is shed any more, and the connections that are held are closed.
func (b *Bound) Close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.stop)
	}
	b.mu.Unlock()
	b.tasks.Wait()
	b.pressure.bits.Store(0)
	b.pen.close()
	b.streams.close()
}

// Hold keeps a connection that was shed until it is closed.
func (b *Bound) Hold(c net.Conn) error {
	reset(c)
	return b.pen.hold(c)
}

// holdStream waits for as long as a stream that was shed is held. It returns sooner when the
// stream's connection has ended.
func (b *Bound) holdStream(ended <-chan struct{}) {
	s := make(stream)
	_ = b.streams.hold(s)
	select {
	case <-s:
	case <-ended:
	}
}

// MakeRoom closes some of the connections that are held: for when the system has no files left.
func (b *Bound) MakeRoom() { b.pen.makeRoom() }

// sheds says whether a request is shed.
func (b *Bound) sheds(k Kind) bool {
	if !b.looking.Load() {
		b.look()
	}
	return b.pressure.sheds(k)
}

// look has the server look how late it is, until nobody waits.
func (b *Bound) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.looking.Swap(true) {
		return
	}
	b.tasks.Go(func() {
		defer b.looking.Store(false)
		late := b.late
		if late == nil {
			p, err := newProbe()
			if err != nil {
				b.log.Warn("nobody is shed in a flood: it cannot be measured how late requests are", zap.Error(err))
				b.pause(quiet)
				return
			}
			defer p.close()
			late = p.late
		}
		for idle := time.Duration(0); idle < quiet && b.pause(interval); idle += interval {
			now := late()
			if b.pressure.look(now, b.pen.size()+b.streams.size()) {
				idle = 0
			}
			b.report(time.Now(), now)
		}
	})
}

// pause waits for d, and reports false if the bound is closed meanwhile.
func (b *Bound) pause(d time.Duration) bool {
	select {
	case <-b.stop:
		return false
	case <-time.After(d):
		return true
	}
}

// report logs what was shed.
func (b *Bound) report(now time.Time, late time.Duration) {
	if now.Sub(b.reported) < reportEvery {
		return
	}
	var n [kinds]int64
	sum := int64(0)
	for k := range n {
		n[k] = b.shed[k].Swap(0)
		sum += n[k]
	}
	if sum == 0 {
		return
	}
	b.reported = now
	b.log.Warn("a flood: requests of people who have to wait get no answer, so that those who are in are not slowed down; "+
		"if many of them came as they were told, the gate needs more processors, or another gate beside it; else limit requests by address in front of it",
		zap.Int64("shed", sum), zap.Int64("asked_aside", n[Aside]), zap.Int64("asked_once", n[Early]), zap.Int64("came_as_told", n[Due]), zap.Duration("late", late))
}

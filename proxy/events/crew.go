package events

import (
	"slices"
	"sync"
)

// maxHands is how many goroutines act for streams at a time, besides those that are held up.
const maxHands = 1024

// crew are the goroutines that act for streams: as many as there is work for, up to maxHands.
// One that is held up for longer than a beat, by a visitor who reads slowly or by a store, does
// not count: so nobody waits for them.
type crew struct {
	mu    sync.Mutex
	tasks []*stream // those that have something to do, in order
	taken int       // as many of tasks are taken
	hands map[*hand]struct{}
	beats int
	turn  func() (take func()) // see Config.Turn
}

// hand is a goroutine of the crew. The crew's lock guards it.
type hand struct {
	began    int // the beat in which it took its stream
	relieved bool
}

// add has somebody act for a stream.
func (c *crew) add(s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks = append(c.tasks, s)
	c.staff()
}

// relieve is called at each beat. It replaces the hands that are held up.
func (c *crew) relieve() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beats++
	for h := range c.hands {
		if c.beats-h.began > 1 {
			h.relieved = true
			delete(c.hands, h)
		}
	}
	c.tasks, c.taken = slices.Delete(c.tasks, 0, c.taken), 0
	for range c.tasks {
		c.staff()
	}
}

// staff starts another hand, unless there are enough. The caller holds mu.
func (c *crew) staff() {
	if len(c.hands) >= maxHands {
		return
	}
	if c.hands == nil {
		c.hands = map[*hand]struct{}{}
	}
	h := &hand{began: c.beats}
	c.hands[h] = struct{}{}
	take := c.turn()
	go func() {
		take()
		c.work(h)
	}()
}

func (c *crew) work(h *hand) {
	for s := c.next(h); s != nil; s = c.next(h) {
		s.act()
	}
}

// next returns the stream for which a hand is to act next, nil if it is not needed any more.
func (c *crew) next(h *hand) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case h.relieved:
		return nil
	case c.taken == len(c.tasks):
		delete(c.hands, h)
		return nil
	}
	s := c.tasks[c.taken]
	c.taken++
	h.began = c.beats
	return s
}

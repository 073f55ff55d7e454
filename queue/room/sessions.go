package room

import (
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// sessions are the accepted visitors whom this node has seen, and until when
// each may stay. It is sharded by id; a shard holds its own unreported ones.
type sessions struct {
	start   queue.Instant // of the ticks
	shards  [shards]sessionShard
	changed shardSet // that may have unreported sessions
}

type sessionShard struct {
	mu      sync.Mutex
	table   table[wholeID] // until: the session's end; more: unreported
	changed []queue.ID     // those whose entry says unreported
	_       [64]byte
}

const unreported = 1

func newSessions(start queue.Instant) *sessions { return &sessions{start: start} }

func (s *sessions) shard(id queue.ID) *sessionShard { return &s.shards[id[15]%shards] }

// phase is where in a tick the sessions of an id end: spread over all of it, so
// that nobody gains by asking just after a tick, when slots would come free.
func phase(id queue.ID) time.Duration {
	return (time.Duration(id[14]) * tick / 256).Truncate(time.Millisecond)
}

// end is the session's end that an entry tells of.
func (s *sessions) end(e *slot[wholeID]) queue.Instant {
	return afterTicks(s.start, e.until).Add(phase(queue.ID(e.key)))
}

// renew takes down that id may stay until expires at least, rounded up to its
// phase of a tick, which keeps most requests of a busy visitor from writing. The
// store is told.
func (s *sessions) renew(now queue.Instant, id queue.ID, expires queue.Instant) {
	s.note(now, id, expires.Add(tick-time.Millisecond), false)
}

// note takes down that id may stay until expires, rounded down to its phase of a
// tick: nobody stays here for longer than by a store that knows just that. What it
// does not know is to be reported.
func (s *sessions) note(now queue.Instant, id queue.ID, expires queue.Instant, known bool) {
	at, until := ticksOf(now, s.start), ticksOf(expires.Add(-phase(id)), s.start)
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := sh.table.find(wholeID(id), at)
	if e == nil {
		e = sh.table.add(wholeID(id), at)
		e.until, e.more = 0, 0
	}
	if until <= e.until {
		return
	}
	e.until = until
	if !known && e.more != unreported {
		e.more = unreported
		sh.changed = append(sh.changed, id)
		if len(sh.changed) == 1 {
			s.changed.add(int(id[15] % shards))
		}
	}
}

// expires returns until when id may stay, as far as this node knows; zero for
// an id whose session is over or was never seen.
func (s *sessions) expires(now queue.Instant, id queue.ID) queue.Instant {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.table.find(wholeID(id), ticksOf(now, s.start)); e != nil {
		return s.end(e)
	}
	return 0
}

// remove forgets the session of id.
func (s *sessions) remove(now queue.Instant, id queue.ID) {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.table.find(wholeID(id), ticksOf(now, s.start)); e != nil {
		e.until, e.more = 0, 0
	}
}

// drain appends the unreported sessions to list.
func (s *sessions) drain(now queue.Instant, list []queue.Session) []queue.Session {
	for i := range s.changed.drain() {
		sh := &s.shards[i]
		sh.mu.Lock()
		for _, id := range sh.changed {
			if e := sh.table.find(wholeID(id), ticksOf(now, s.start)); e != nil && e.more == unreported {
				e.more = 0
				list = append(list, queue.Session{ID: id, Expires: s.end(e)})
			}
		}
		sh.changed = sh.changed[:0]
		sh.mu.Unlock()
	}
	return list
}

// all appends every session that lasts to list.
func (s *sessions) all(now queue.Instant, list []queue.Session) []queue.Session {
	at := ticksOf(now, s.start)
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for i := range sh.table.slots {
			e := &sh.table.slots[i]
			if e.until > at {
				list = append(list, queue.Session{ID: queue.ID(e.key), Expires: s.end(e)})
			}
		}
		sh.mu.Unlock()
	}
	return list
}

// trim gives memory of one shard back after many sessions have ended.
func (s *sessions) trim(shard int, now queue.Instant) {
	sh := &s.shards[shard%shards]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.table.trim(ticksOf(now, s.start))
}

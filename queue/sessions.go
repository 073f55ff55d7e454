package queue

import (
	"sync"
	"time"
)

// sessions are the accepted visitors whom this node has seen, and until when
// each may stay. It is sharded by id; a shard holds its own unreported ones.
type sessions struct {
	start   Instant // of the ticks
	shards  [shards]sessionShard
	changed shardSet // that may have unreported sessions
}

type sessionShard struct {
	mu      sync.Mutex
	table   table[ID] // until: the session's end; more: unreported
	changed []ID      // those whose entry says unreported
	_       [64]byte
}

const unreported = 1

func newSessions(start Instant) *sessions { return &sessions{start: start} }

func (s *sessions) shard(id ID) *sessionShard { return &s.shards[id[15]%shards] }

// phase is where in a tick the sessions of an id end: spread over all of it, so
// that nobody gains by asking just after a tick, when slots would come free.
func phase(id ID) time.Duration {
	return (time.Duration(id[14]) * tick / 256).Truncate(time.Millisecond)
}

// end is the session's end that an entry tells of.
func (s *sessions) end(e *slot[ID]) Instant { return s.start.afterTicks(e.until).Add(phase(e.key)) }

// renew takes down that id may stay until expires at least, rounded up to its
// phase of a tick, which keeps most requests of a busy visitor from writing. The
// store is told.
func (s *sessions) renew(now Instant, id ID, expires Instant) {
	s.note(now, id, expires.Add(tick-time.Millisecond), false)
}

// note takes down that id may stay until expires, rounded down to its phase of a
// tick: nobody stays here for longer than by a store that knows just that. What it
// does not know is to be reported.
func (s *sessions) note(now Instant, id ID, expires Instant, known bool) {
	at, until := now.ticks(s.start), expires.Add(-phase(id)).ticks(s.start)
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := sh.table.find(id, at)
	if e == nil {
		e = sh.table.add(id, at)
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
func (s *sessions) expires(now Instant, id ID) Instant {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.table.find(id, now.ticks(s.start)); e != nil {
		return s.end(e)
	}
	return 0
}

// remove forgets the session of id.
func (s *sessions) remove(now Instant, id ID) {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.table.find(id, now.ticks(s.start)); e != nil {
		e.until, e.more = 0, 0
	}
}

// drain appends the unreported sessions to list.
func (s *sessions) drain(now Instant, list []Session) []Session {
	for i := range s.changed.drain() {
		sh := &s.shards[i]
		sh.mu.Lock()
		for _, id := range sh.changed {
			if e := sh.table.find(id, now.ticks(s.start)); e != nil && e.more == unreported {
				e.more = 0
				list = append(list, Session{ID: id, Expires: s.end(e)})
			}
		}
		sh.changed = sh.changed[:0]
		sh.mu.Unlock()
	}
	return list
}

// all appends every session that lasts to list.
func (s *sessions) all(now Instant, list []Session) []Session {
	at := now.ticks(s.start)
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for i := range sh.table.slots {
			e := &sh.table.slots[i]
			if e.until > at {
				list = append(list, Session{ID: e.key, Expires: s.end(e)})
			}
		}
		sh.mu.Unlock()
	}
	return list
}

// trim gives memory of one shard back after many sessions have ended.
func (s *sessions) trim(shard int, now Instant) {
	sh := &s.shards[shard%shards]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.table.trim(now.ticks(s.start))
}

package room

import (
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// sessionTable has the ends of sessions by id. It is sharded; a shard holds its own
// unreported ones.
type sessionTable struct {
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

const (
	reported   = 0
	unreported = 1
)

func (s *sessionTable) shard(id queue.ID) *sessionShard { return &s.shards[id[15]%shards] }

// phase is where in a tick the sessions of an id end: spread over all of it, so
// that nobody gains by asking just after a tick, when slots would come free.
func phase(id queue.ID) time.Duration {
	return (time.Duration(id[14]) * tick / 256).Truncate(time.Millisecond)
}

// end is the session's end that an entry tells of.
func (s *sessionTable) end(entry *slot[wholeID]) queue.Instant {
	return afterTicks(s.start, entry.until).Add(phase(queue.ID(entry.key)))
}

// renew has the session of id last until a moment at least, rounded up to its phase of
// a tick, which keeps most requests of a busy visitor from writing. The store is to be
// told.
func (s *sessionTable) renew(at queue.Instant, id queue.ID, until queue.Instant) {
	s.extend(at, id, until.Add(tick-time.Millisecond), unreported)
}

// add has the session of id last until a moment, rounded down to its phase of a tick:
// nobody stays here for longer than by a store that knows just that. The store is to
// be told.
func (s *sessionTable) add(at queue.Instant, id queue.ID, until queue.Instant) {
	s.extend(at, id, until, unreported)
}

// learn is add of what the store knows.
func (s *sessionTable) learn(at queue.Instant, id queue.ID, until queue.Instant) {
	s.extend(at, id, until, reported)
}

func (s *sessionTable) extend(at queue.Instant, id queue.ID, until queue.Instant, report uint32) {
	ticks, end := ticksOf(at, s.start), ticksOf(until.Add(-phase(id)), s.start)
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	entry := sh.table.find(wholeID(id), ticks)
	if entry == nil {
		entry = sh.table.add(wholeID(id), ticks)
		entry.until, entry.more = 0, reported
	}
	if end <= entry.until {
		return
	}
	entry.until = end
	if report == unreported && entry.more != unreported {
		entry.more = unreported
		sh.changed = append(sh.changed, id)
		if len(sh.changed) == 1 {
			s.changed.add(int(id[15] % shards))
		}
	}
}

// expires returns until when the session of id lasts, as far as this node knows; zero
// for one that is over or was never seen.
func (s *sessionTable) expires(at queue.Instant, id queue.ID) queue.Instant {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if entry := sh.table.find(wholeID(id), ticksOf(at, s.start)); entry != nil {
		return s.end(entry)
	}
	return 0
}

// remove forgets the session of id.
func (s *sessionTable) remove(at queue.Instant, id queue.ID) {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if entry := sh.table.find(wholeID(id), ticksOf(at, s.start)); entry != nil {
		entry.until, entry.more = 0, reported
	}
}

// drain appends the unreported sessions to list.
func (s *sessionTable) drain(at queue.Instant, list []queue.Session) []queue.Session {
	for i := range s.changed.drain() {
		sh := &s.shards[i]
		sh.mu.Lock()
		for _, id := range sh.changed {
			if entry := sh.table.find(wholeID(id), ticksOf(at, s.start)); entry != nil && entry.more == unreported {
				entry.more = reported
				list = append(list, queue.Session{ID: id, Expires: s.end(entry)})
			}
		}
		sh.changed = sh.changed[:0]
		sh.mu.Unlock()
	}
	return list
}

// all appends every session that lasts to list.
func (s *sessionTable) all(at queue.Instant, list []queue.Session) []queue.Session {
	ticks := ticksOf(at, s.start)
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for i := range sh.table.slots {
			entry := &sh.table.slots[i]
			if entry.until > ticks {
				list = append(list, queue.Session{ID: queue.ID(entry.key), Expires: s.end(entry)})
			}
		}
		sh.mu.Unlock()
	}
	return list
}

// trim gives memory of one shard back after many sessions have ended.
func (s *sessionTable) trim(shard int, at queue.Instant) {
	sh := &s.shards[shard%shards]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.table.trim(ticksOf(at, s.start))
}

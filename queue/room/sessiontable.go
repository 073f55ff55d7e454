package room

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// sessionTable has the ends of sessions by id. It is sharded; a shard holds its own
// unreported ones.
type sessionTable struct {
	start   queue.Instant // of the ticks
	shards  [shards]sessionShard
	changed shardSet     // that may have unreported sessions
	drained atomic.Int64 // the queue.Instant of the last report
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

// ticks are the ticks at which the session of id has ended at a moment, if its entry has them or
// fewer.
func (s *sessionTable) ticks(at queue.Instant, id queue.ID) uint32 {
	return ticksOf(at.Add(-phase(id)), s.start)
}

// over are the ticks at which the session of every id has ended at a moment.
func (s *sessionTable) over(at queue.Instant) uint32 { return ticksOf(at.Add(-tick), s.start) }

// end is the session's end that an entry tells of.
func (s *sessionTable) end(entry *entry[wholeID]) queue.Instant {
	return afterTicks(s.start, entry.until).Add(phase(queue.ID(entry.key)))
}

// renew has the session of id, which was known to last until a moment, last until a later
// one at least. That is rounded up to the session's phase of a tick, which keeps most
// requests of a busy visitor from writing. The store is to be told. See prolong.
func (s *sessionTable) renew(at queue.Instant, id queue.ID, known, until queue.Instant) (lasts bool) {
	return s.prolong(at, id, known, until.Add(tick-time.Millisecond))
}

// prolong is renew without the rounding up. It returns false, and changes nothing, if a
// report went to the store after the session's end: the store may have given the slot to
// somebody else then. That happens where a request was held up after it had read the clock.
func (s *sessionTable) prolong(at queue.Instant, id queue.ID, known, until queue.Instant) (lasts bool) {
	return s.extend(at, id, known, until, unreported)
}

// add has the session of id last until a moment, rounded down to its phase of a tick:
// nobody stays here for longer than by a store that knows just that. The store is to
// be told.
func (s *sessionTable) add(at queue.Instant, id queue.ID, until queue.Instant) {
	s.extend(at, id, math.MaxInt64, until, unreported)
}

// learn is add of what the store knows.
func (s *sessionTable) learn(at queue.Instant, id queue.ID, until queue.Instant) {
	s.extend(at, id, math.MaxInt64, until, reported)
}

// extend has the session of id last until a moment. A report looks at drained before it
// looks for changed shards, and extend the other way round: either the report has what is
// changed here, or this sees the report.
func (s *sessionTable) extend(at queue.Instant, id queue.ID, known, until queue.Instant, report uint32) (lasts bool) {
	end := s.ticks(until, id)
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	entry := sh.table.find(wholeID(id), s.ticks(at, id))
	if entry != nil {
		known = max(known, s.end(entry))
	}
	longer := entry == nil || end > entry.until
	if longer && report == unreported {
		s.changed.add(int(id[15] % shards))
	}
	if known <= queue.Instant(s.drained.Load()) {
		return false
	}
	if !longer {
		return true
	}
	if entry == nil {
		entry = sh.table.add(wholeID(id), s.over(at))
		entry.more = reported
	}
	entry.until = end
	if report == unreported && entry.more != unreported {
		entry.more = unreported
		sh.changed = append(sh.changed, id)
	}
	return true
}

// expires returns until when the session of id lasts, as far as this node knows; zero
// for one that is over or was never seen.
func (s *sessionTable) expires(at queue.Instant, id queue.ID) queue.Instant {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if entry := sh.table.find(wholeID(id), s.ticks(at, id)); entry != nil {
		return s.end(entry)
	}
	return 0
}

// remove forgets the session of id.
func (s *sessionTable) remove(at queue.Instant, id queue.ID) {
	sh := s.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if entry := sh.table.find(wholeID(id), s.ticks(at, id)); entry != nil {
		entry.until, entry.more = 0, reported
	}
}

// drain appends the unreported sessions to list, for a report.
func (s *sessionTable) drain(at queue.Instant, list []queue.Session) []queue.Session {
	if last := queue.Instant(s.drained.Load()); at > last || at < last.Add(-clockJump) {
		s.drained.Store(int64(at))
	}
	for i := range s.changed.drain() {
		sh := &s.shards[i]
		sh.mu.Lock()
		for _, id := range sh.changed {
			if entry := sh.table.find(wholeID(id), s.ticks(at, id)); entry != nil && entry.more == unreported {
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
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for i := range sh.table.entries {
			entry := &sh.table.entries[i]
			if id := queue.ID(entry.key); entry.until > s.ticks(at, id) {
				list = append(list, queue.Session{ID: id, Expires: s.end(entry)})
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
	sh.table.trim(s.over(at))
}

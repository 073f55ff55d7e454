package room

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// tick is the grain of the times in tables.
const tick = 125 * time.Millisecond

// ticksOf counts the ticks from start, a multiple of tick, to i; what lies before
// its first tick counts as that.
func ticksOf(i, start queue.Instant) uint32 { return uint32(max(1, i.Sub(start)/tick)) }

// afterTicks is the opposite of ticksOf.
func afterTicks(start queue.Instant, ticks uint32) queue.Instant {
	return start.Add(time.Duration(ticks) * tick)
}

// keys are random, so that any bits of them will do as their hash; the zero key
// is none.
type keys interface {
	comparable
	hash() uint64
}

// shortID is an id's first half, enough where a mix-up among those present at
// one time harms nobody and never happens. It is in bytes so that an entry needs no padding.
type shortID [8]byte

func (k shortID) hash() uint64 { return binary.BigEndian.Uint64(k[:]) * 0x9e3779b97f4a7c15 }

// wholeID is all of an id.
type wholeID queue.ID

func (k wholeID) hash() uint64 { return short(queue.ID(k)).hash() }

// short is the first half of an id.
func short(id queue.ID) shortID {
	k := shortID(id[:8])
	if k == (shortID{}) {
		k[7] = 1
	}
	return k
}

// entry is one of a table. Past its until it is dead: it may be taken by
// another key, but ends no search.
type entry[K keys] struct {
	key   K
	until uint32 // ticks
	more  uint32
	low   uint32
}

// table finds entries by key with open addressing and linear probing. It takes
// 20 bytes an entry for short ids, is at most 7/8 full, and forgets the dead as
// it grows. Not safe for concurrent use.
type table[K keys] struct {
	entries []entry[K]
	used    int // entries that have a key
}

func (t *table[K]) home(k K) int {
	hi, _ := bits.Mul64(k.hash(), uint64(len(t.entries)))
	return int(hi)
}

// find returns the entry of k that is alive at now, or nil.
func (t *table[K]) find(k K, now uint32) *entry[K] {
	if len(t.entries) == 0 {
		return nil
	}
	var none K
	for i := t.home(k); t.entries[i].key != none; {
		if s := &t.entries[i]; s.key == k {
			if s.until <= now {
				return nil
			}
			return s
		}
		if i++; i == len(t.entries) {
			i = 0
		}
	}
	return nil
}

// isFull reports whether the next add makes room first.
func (t *table[K]) isFull() bool { return t.used >= len(t.entries)*7/8 }

// add returns an entry for k, which find did not find at now: one that was dead is as it
// was. Entries move at the next add.
func (t *table[K]) add(k K, now uint32) *entry[K] {
	if t.isFull() {
		t.resize(now)
	}
	var none K
	var dead *entry[K]
	for i := t.home(k); ; {
		s := &t.entries[i]
		switch {
		case s.key == k:
			return s
		case s.key == none && dead == nil:
			t.used++
			s.key = k
			return s
		case s.key == none:
			dead.key = k
			return dead
		case dead == nil && s.until <= now:
			dead = s
		}
		if i++; i == len(t.entries) {
			i = 0
		}
	}
}

// alive counts the entries that are alive at now.
func (t *table[K]) alive(now uint32) int {
	n := 0
	for i := range t.entries {
		if t.entries[i].until > now {
			n++
		}
	}
	return n
}

// resize makes room for the entries alive at now and a third more, and
// forgets the others.
func (t *table[K]) resize(now uint32) {
	old := t.entries
	t.entries, t.used = make([]entry[K], max(8, t.alive(now)*4/3)), 0
	for i := range old {
		if old[i].until > now {
			*t.add(old[i].key, now) = old[i]
		}
	}
}

// trim gives memory back once most entries are dead.
func (t *table[K]) trim(now uint32) {
	if len(t.entries) > 64 && t.alive(now) < len(t.entries)/4 {
		t.resize(now)
	}
}

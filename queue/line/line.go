// Package line keeps an exact line in memory: everybody's place in it by
// priority and number, how many are ahead, and until when a place lasts.
package line

import (
	"bytes"
	"cmp"
	"iter"

	"github.com/anteroom-gate/anteroom/queue"
)

// Line is an exact line; the zero Line is empty. Not safe for concurrent use.
//
// The entries are in chunks, in order, with a Fenwick tree of the chunks' sizes
// over them: whatever happens to one entry costs a little more than the
// logarithm of how many there are.
type Line struct {
	entries map[queue.ID]*Entry
	most    int // entries since the map was made
	chunks  []*chunk
	sums    []int // the Fenwick tree; sums[0] is not used
	ends    []end // when to look who has not been kept, in order
}

// Entry is a place in line.
type Entry struct {
	ID       queue.ID
	chunk    *chunk
	Number   uint64
	until    queue.Instant
	Priority int16
	at       uint8         // in the chunk
	due      queue.Instant // of the end that it hangs on; not after until
	prev     *Entry        // on the same end
	next     *Entry
}

// Until is when the place is lost.
func (e *Entry) Until() queue.Instant { return e.until }

// compare is the order of the line.
func compare(a, b *Entry) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Number, b.Number), bytes.Compare(a.ID[:], b.ID[:]))
}

// Len counts the entries.
func (l *Line) Len() int { return len(l.entries) }

// Find returns the entry of id, or nil.
func (l *Line) Find(id queue.ID) *Entry { return l.entries[id] }

// Add gives id, which is not in line, the place of that priority and number. It
// is lost at until unless it is kept.
func (l *Line) Add(id queue.ID, priority int16, number uint64, now, until queue.Instant) *Entry {
	if l.entries == nil {
		l.entries = map[queue.ID]*Entry{}
	}
	e := &Entry{ID: id, Priority: priority, Number: number, until: until}
	l.entries[id] = e
	l.most = max(l.most, len(l.entries))
	l.insert(e)
	l.hang(e, now)
	return e
}

// Remove takes an entry out of the line.
func (l *Line) Remove(e *Entry) {
	l.takeOut(e)
	l.unhang(e)
	delete(l.entries, e.ID)
	if l.most > 1024 && len(l.entries) < l.most/32 {
		l.shrink()
	}
}

// shrink gives memory back after a crowd has left: maps never do by themselves.
func (l *Line) shrink() {
	entries := make(map[queue.ID]*Entry, len(l.entries))
	for id, e := range l.entries {
		entries[id] = e
	}
	l.entries, l.most = entries, len(entries)
}

// Prefer moves an entry to another priority; its number stays.
func (l *Line) Prefer(e *Entry, priority int16) {
	if e.Priority == priority {
		return
	}
	l.takeOut(e)
	e.Priority = priority
	l.insert(e)
}

// Ahead counts the entries before e.
func (l *Line) Ahead(e *Entry) int { return l.before(e.chunk.index) + e.chunk.before(int(e.at)) }

// Last returns the last entry, or nil.
func (l *Line) Last() *Entry {
	if len(l.chunks) == 0 {
		return nil
	}
	return l.chunks[len(l.chunks)-1].last()
}

// Default returns how many have a priority above the default, and the first of
// those who have the default, or nil.
func (l *Line) Default() (preferred int, first *Entry) {
	c, at := l.seek(&Entry{})
	if c == nil {
		return len(l.entries), nil
	}
	if e := c.members[at]; e.Priority == 0 {
		first = e
	}
	return l.before(c.index) + at, first
}

// All returns the entries in order. The line must not change meanwhile.
func (l *Line) All() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, c := range l.chunks {
			for _, e := range c.members {
				if e != nil && !yield(e) {
					return
				}
			}
		}
	}
}

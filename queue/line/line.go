// Package line keeps an exact line in memory: everybody's place in it by
// priority and number, how many are ahead, and until when a place lasts.
package line

import (
	"bytes"
	"cmp"
	"iter"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Line is an exact line; the zero Line is empty. Not safe for concurrent use.
//
// The entries are in chunks, in order, and a Fenwick tree has the sizes of the chunks. So a
// change of one entry costs little more than the logarithm of the number of entries.
type Line struct {
	index  index
	chunks []*chunk
	sums   []size // the Fenwick tree; sums[0] is not used
	ends   []end  // when to look whose time has run out, in order
}

// Entry is a place in line. It fills a line of the processor's cache.
type Entry struct {
	ID       queue.ID
	chunk    *chunk
	Number   uint64
	until    queue.Instant
	prev     *Entry // on the same end
	next     *Entry
	late     uint32 // how much later until is than the end that the entry hangs on
	Priority int16
	at       uint8 // in the chunk

	confirmed bool
}

// Confirmed reports whether the place is confirmed.
func (e *Entry) Confirmed() bool { return e.confirmed }

// size counts the entry, by 1 or -1.
func (e *Entry) size(by int32) size {
	if e.confirmed {
		return size{all: by, confirmed: by}
	}
	return size{all: by}
}

// Until is when the place is lost.
func (e *Entry) Until() queue.Instant { return e.until }

// compare is the order of the line.
func compare(a, b *Entry) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Number, b.Number), bytes.Compare(a.ID[:], b.ID[:]))
}

// Len counts the entries.
func (l *Line) Len() int { return l.index.count }

// Find returns the entry of id, or nil.
func (l *Line) Find(id queue.ID) *Entry { return l.index.find(id) }

// Add gives id, which is not in line, the place with that priority and number. The place is
// not confirmed, and is lost at until unless it is kept.
func (l *Line) Add(id queue.ID, priority int16, number uint64, now, until queue.Instant) *Entry {
	e := &Entry{ID: id, Priority: priority, Number: number, until: until}
	l.index.add(e)
	l.insert(e)
	l.hang(e, now)
	return e
}

// Confirm marks the place of an entry as confirmed.
func (l *Line) Confirm(e *Entry) {
	if e.confirmed {
		return
	}
	e.confirmed = true
	e.chunk.confirmed.set(int(e.at))
	l.change(e.chunk, size{confirmed: 1})
}

// Remove takes an entry out of the line.
func (l *Line) Remove(e *Entry) {
	l.takeOut(e)
	l.unhang(e)
	l.index.remove(e)
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

// Ahead counts the entries before e, and those of them that are confirmed.
func (l *Line) Ahead(e *Entry) (all, confirmed int) {
	n := l.before(int(e.chunk.index))
	return int(n.all) + e.chunk.live.before(int(e.at)), int(n.confirmed) + e.chunk.confirmed.before(int(e.at))
}

// Last returns the last entry, or nil.
func (l *Line) Last() *Entry {
	if len(l.chunks) == 0 {
		return nil
	}
	return l.chunks[len(l.chunks)-1].last()
}

// Default returns how many entries have a higher priority than the default, and the first
// entry with the default, or nil.
func (l *Line) Default() (preferred int, first *Entry) {
	c, at := l.seek(&Entry{})
	if c == nil {
		return l.Len(), nil
	}
	if e := c.members[at]; e.Priority == 0 {
		first = e
	}
	return int(l.before(int(c.index)).all) + at, first
}

// All yields the entries in order. The line must not change meanwhile.
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

// Confirmed yields the confirmed entries in order. The line must not change meanwhile.
func (l *Line) Confirmed() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, c := range l.chunks {
			for at := range c.confirmed.all() {
				if !yield(c.members[at]) {
					return
				}
			}
		}
	}
}

package line

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// chunkSize is how many entries a chunk has at most.
const chunkSize = 256

// chunk is a run of the line. An entry that is taken out leaves a gap, so that the others
// stay where they are. The last member is never a gap.
type chunk struct {
	live      marks    // the members that are no gaps
	confirmed marks    // those that are confirmed
	index     int32    // in Line.chunks
	count     int32    // without gaps; never 0
	members   []*Entry // nil is a gap
}

// marks has a bit for each member of a chunk.
type marks [chunkSize / 64]uint64

func (m *marks) set(at int)   { m[at/64] |= 1 << (at % 64) }
func (m *marks) clear(at int) { m[at/64] &^= 1 << (at % 64) }

// before counts the marks before a place in the chunk.
func (m *marks) before(at int) int {
	n := 0
	for _, word := range m[:at/64] {
		n += bits.OnesCount64(word)
	}
	return n + bits.OnesCount64(m[at/64]&(1<<(at%64)-1))
}

// clearFrom clears the marks from a place on.
func (m *marks) clearFrom(at int) {
	for i := range m {
		m[i] &= 1<<min(max(at-64*i, 0), 64) - 1
	}
}

// all returns the places that are marked, in order.
func (m *marks) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range m {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// size counts entries.
type size struct{ all, confirmed int32 }

func (t *size) add(more size) {
	t.all += more.all
	t.confirmed += more.confirmed
}

// size counts the entries of the chunk.
func (c *chunk) size() size {
	n := size{all: c.count}
	for _, word := range c.confirmed {
		n.confirmed += int32(bits.OnesCount64(word))
	}
	return n
}

func (c *chunk) last() *Entry { return c.members[len(c.members)-1] }

// set replaces the members of the chunk by others, which have no gaps. The members before
// from are the same as before.
func (c *chunk) set(members []*Entry, from int) {
	clear(c.members[min(len(members), len(c.members)):])
	c.members, c.count = members, int32(len(members))
	c.live.clearFrom(from)
	c.confirmed.clearFrom(from)
	for i, e := range members[from:] {
		e.chunk, e.at = c, uint8(from+i)
		c.live.set(from + i)
		if e.confirmed {
			c.confirmed.set(from + i)
		}
	}
}

// close closes the gaps.
func (c *chunk) close() {
	if int(c.count) == len(c.members) {
		return
	}
	first := slices.Index(c.members, nil)
	c.set(slices.DeleteFunc(c.members, func(e *Entry) bool { return e == nil }), first)
}

// insert puts e into the line, in a chunk or at the end of the last one.
func (l *Line) insert(e *Entry) {
	c, at := l.seek(e)
	if c == nil {
		c = l.tail()
		at = len(c.members)
	}
	if len(c.members) == chunkSize {
		l.split(c)
		c, at = l.seek(e)
	}
	c.set(slices.Insert(c.members, at, e), at)
	l.change(c, e.size(1))
}

// tail returns the chunk that takes the next entry, without gaps and not full.
func (l *Line) tail() *chunk {
	if n := len(l.chunks); n > 0 {
		c := l.chunks[n-1]
		if c.count < chunkSize {
			c.close()
			return c
		}
	}
	c := &chunk{index: int32(len(l.chunks))}
	l.chunks = append(l.chunks, c)
	l.grow()
	return c
}

// seek returns the chunk and the place in it where e is, or where it has to be put. The chunk
// has no gaps. It is nil if e has to be put at the end of the line.
func (l *Line) seek(e *Entry) (*chunk, int) {
	if last := l.Last(); last == nil || compare(e, last) > 0 {
		return nil, 0
	}
	c := l.chunks[sort.Search(len(l.chunks)-1, func(i int) bool { return compare(e, l.chunks[i].last()) <= 0 })]
	c.close()
	at, _ := slices.BinarySearchFunc(c.members, e, compare)
	return c, at
}

// split makes two chunks of one.
func (l *Line) split(c *chunk) {
	half, more := chunkSize/2, &chunk{}
	more.set(slices.Clone(c.members[half:]), 0)
	c.set(c.members[:half], half)
	l.chunks = slices.Insert(l.chunks, int(c.index)+1, more)
	l.reindex(int(c.index) + 1)
}

// takeOut takes an entry out of its chunk.
func (l *Line) takeOut(e *Entry) {
	c := e.chunk
	c.members[e.at] = nil
	c.live.clear(int(e.at))
	c.confirmed.clear(int(e.at))
	l.change(c, e.size(-1))
	c.count--
	n := len(c.members)
	for n > 0 && c.members[n-1] == nil {
		n--
	}
	c.members = c.members[:n]
	switch {
	case n == 0:
		l.drop(c)
	case c.count < chunkSize/8:
		l.merge(c)
	}
}

// merge makes one chunk of a chunk with few entries and its neighbour, if the two together
// are small enough.
func (l *Line) merge(c *chunk) {
	for _, i := range []int{int(c.index) - 1, int(c.index)} {
		if i < 0 || i+1 == len(l.chunks) || l.chunks[i].count+l.chunks[i+1].count > chunkSize/2 {
			continue
		}
		one, other := l.chunks[i], l.chunks[i+1]
		one.close()
		other.close()
		one.set(append(one.members, other.members...), int(one.count))
		l.drop(other)
		return
	}
}

func (l *Line) drop(c *chunk) {
	l.chunks = slices.Delete(l.chunks, int(c.index), int(c.index)+1)
	l.reindex(max(0, int(c.index)-1))
}

// The Fenwick tree: sums[i] is the number of entries in the last chunks up to the i-th; the
// lowest bit of i is the number of these chunks.

// before counts the entries of the first so many chunks.
func (l *Line) before(chunks int) (n size) {
	for i := chunks; i > 0; i &= i - 1 {
		n.add(l.sums[i])
	}
	return n
}

func (l *Line) change(c *chunk, by size) {
	for i := int(c.index) + 1; i < len(l.sums); i += i & -i {
		l.sums[i].add(by)
	}
}

// grow adds the last chunk, which is empty, to the tree.
func (l *Line) grow() {
	if len(l.sums) == 0 {
		l.sums = append(l.sums, size{})
	}
	i := len(l.sums)
	l.sums = append(l.sums, size{})
	for bit := 1; bit < i&-i; bit *= 2 {
		l.sums[i].add(l.sums[i-bit])
	}
}

// reindex numbers the chunks from the given one on, and builds the tree anew.
func (l *Line) reindex(from int) {
	for i := from; i < len(l.chunks); i++ {
		l.chunks[i].index = int32(i)
	}
	l.sums = append(l.sums[:0], size{})
	for _, c := range l.chunks {
		l.sums = append(l.sums, c.size())
	}
	for i := 1; i < len(l.sums); i++ {
		if up := i + i&-i; up < len(l.sums) {
			l.sums[up].add(l.sums[i])
		}
	}
}

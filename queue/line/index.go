package line

import (
	"encoding/binary"
	"math/bits"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// index finds entries by id. It is a hash table with open addressing and linear probing. It
// relies on ids that are drawn at random. Its parts grow one at a time, so that no visitor
// who joins waits for long.
//
// A Go map is slower with a million waiters: 129 bytes a waiter instead of 98 for
// the whole line, 108 ms a garbage collection instead of 38 (BenchmarkGrowth), and
// 450 ns a check-in instead of 360 (memstore's BenchmarkLineCheckIn). A look-up
// alone takes 67 ns in both (BenchmarkFind), and so does everything among a
// thousand.
type index struct {
	parts [64]part
	count int
}

type part struct {
	bins []bin
	used int
}

// bin is a place in the table. It is free while entry is nil. It keeps the hash, so that
// most probes need not read the entry, which is elsewhere in memory.
type bin struct {
	hash  uint64
	entry *Entry
}

func hash(id queue.ID) uint64 {
	return (binary.LittleEndian.Uint64(id[:]) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(id[8:]), 32)) * 0x9e3779b97f4a7c15
}

// part returns the part that the first six bits of the hash choose. The other bits choose the
// bin in it.
func (x *index) part(hash uint64) *part { return &x.parts[hash>>58] }

// home is the bin where the search for the hash begins.
func (p *part) home(hash uint64) int {
	hi, _ := bits.Mul64(hash<<6, uint64(len(p.bins)))
	return int(hi)
}

func (p *part) after(i int) int {
	if i++; i == len(p.bins) {
		return 0
	}
	return i
}

func (x *index) find(id queue.ID) *Entry {
	h := hash(id)
	p := x.part(h)
	if p.used == 0 {
		return nil
	}
	for i := p.home(h); p.bins[i].entry != nil; i = p.after(i) {
		if c := &p.bins[i]; c.hash == h && c.entry.ID == id {
			return c.entry
		}
	}
	return nil
}

func (x *index) add(e *Entry) {
	h := hash(e.ID)
	p := x.part(h)
	if p.used >= len(p.bins)*7/8 {
		p.resize()
	}
	p.put(bin{h, e})
	p.used++
	x.count++
}

func (p *part) put(c bin) {
	i := p.home(c.hash)
	for p.bins[i].entry != nil {
		i = p.after(i)
	}
	p.bins[i] = c
}

func (x *index) remove(e *Entry) {
	h := hash(e.ID)
	p := x.part(h)
	i := p.home(h)
	for p.bins[i].entry != e {
		i = p.after(i)
	}
	p.free(i)
	p.used--
	x.count--
	if p.used < len(p.bins)/4 && len(p.bins) > 16 {
		p.resize()
	}
}

// free empties bin i. Each bin after it, up to the next free one, moves into the gap if
// else a search from its home would stop there.
func (p *part) free(i int) {
	for j := p.after(i); p.bins[j].entry != nil; j = p.after(j) {
		home := p.home(p.bins[j].hash)
		if i <= j && (home <= i || home > j) || i > j && home <= i && home > j {
			p.bins[i] = p.bins[j]
			i = j
		}
	}
	p.bins[i] = bin{}
}

// resize gives the part 1.6 bins for each of its entries.
func (p *part) resize() {
	old := p.bins
	p.bins = make([]bin, max(8, p.used*8/5))
	for _, c := range old {
		if c.entry != nil {
			p.put(c)
		}
	}
}

package line

import (
	"encoding/binary"
	"math/bits"

	"github.com/anteroom-gate/anteroom/queue"
)

// index finds entries by id. It is a hash table with open addressing and linear
// probing, and trusts ids to be drawn at random. Its parts grow one at a time, so
// that no join waits for long.
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
	slots []slot
	used  int
}

// slot is free while entry is nil. It keeps the hash so that most probes need not
// read the entry, which is elsewhere in memory.
type slot struct {
	hash  uint64
	entry *Entry
}

func hash(id queue.ID) uint64 {
	return (binary.LittleEndian.Uint64(id[:]) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(id[8:]), 32)) * 0x9e3779b97f4a7c15
}

// part returns the part that the first six bits of the hash choose; the rest
// chooses the slot in it.
func (x *index) part(hash uint64) *part { return &x.parts[hash>>58] }

// home is the slot where the search for the hash begins.
func (p *part) home(hash uint64) int {
	hi, _ := bits.Mul64(hash<<6, uint64(len(p.slots)))
	return int(hi)
}

func (p *part) after(i int) int {
	if i++; i == len(p.slots) {
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
	for i := p.home(h); p.slots[i].entry != nil; i = p.after(i) {
		if s := &p.slots[i]; s.hash == h && s.entry.ID == id {
			return s.entry
		}
	}
	return nil
}

func (x *index) add(e *Entry) {
	h := hash(e.ID)
	p := x.part(h)
	if p.used >= len(p.slots)*7/8 {
		p.resize()
	}
	p.put(slot{h, e})
	p.used++
	x.count++
}

func (p *part) put(s slot) {
	i := p.home(s.hash)
	for p.slots[i].entry != nil {
		i = p.after(i)
	}
	p.slots[i] = s
}

func (x *index) remove(e *Entry) {
	h := hash(e.ID)
	p := x.part(h)
	i := p.home(h)
	for p.slots[i].entry != e {
		i = p.after(i)
	}
	p.free(i)
	p.used--
	x.count--
	if p.used < len(p.slots)/4 && len(p.slots) > 16 {
		p.resize()
	}
}

// free empties slot i. Each slot behind it, up to the next free one, moves into
// the gap if a search from its home would otherwise stop there.
func (p *part) free(i int) {
	for j := p.after(i); p.slots[j].entry != nil; j = p.after(j) {
		home := p.home(p.slots[j].hash)
		if i <= j && (home <= i || home > j) || i > j && home <= i && home > j {
			p.slots[i] = p.slots[j]
			i = j
		}
	}
	p.slots[i] = slot{}
}

// resize gives the part 1.6 slots for each of its entries.
func (p *part) resize() {
	old := p.slots
	p.slots = make([]slot, max(8, p.used*8/5))
	for _, s := range old {
		if s.entry != nil {
			p.put(s)
		}
	}
}

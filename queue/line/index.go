package line

import (
	"encoding/binary"
	"math/bits"

	"github.com/anteroom-gate/anteroom/queue"
)

// index finds entries by id with open addressing and linear probing. Ids are
// drawn at random. It is in parts that grow one at a time, so that none of them
// holds anybody up for long.
type index struct {
	parts [64]part
	count int
}

type part struct {
	slots []slot
	used  int
}

// slot is free without an entry. The hash spares most looks at entries, which
// are elsewhere in memory.
type slot struct {
	hash  uint64
	entry *Entry
}

func hash(id queue.ID) uint64 {
	return (binary.LittleEndian.Uint64(id[:]) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(id[8:]), 32)) * 0x9e3779b97f4a7c15
}

// part is told by the first bits of the hash, and the place in it by the rest.
func (x *index) part(hash uint64) *part { return &x.parts[hash>>58] }

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

// free empties a slot, and moves those up that would not be found behind it.
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

// resize makes room for the entries and three fifths more.
func (p *part) resize() {
	old := p.slots
	p.slots = make([]slot, max(8, p.used*8/5))
	for _, s := range old {
		if s.entry != nil {
			p.put(s)
		}
	}
}

package templates

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// longestPacked is the longest address that a compressed page can have in it: with it escaped
// a value still fits into one block that is not compressed, of 65,535 bytes.
const longestPacked = 8 << 10

// storedHead is the length of the header of a block that is not compressed.
const storedHead = 5

var (
	// gzipHead is the header of a gzip file without a name and a time (RFC 1952).
	gzipHead = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	// lastBlock is an empty last block (RFC 1951).
	lastBlock = []byte{1, 0, 0, 0xff, 0xff}
)

const (
	// shortest is how long a text is, in bytes, that is worth compressing.
	shortest = 256
	// rememberedTexts is how many texts are compressed only once. What comes before and after a
	// room's numbers is the same for a long time: the style, the script, and most of the words.
	rememberedTexts = 256
)

// packer compresses the texts of pages. It is safe for concurrent use.
type packer struct {
	mu      sync.Mutex
	writer  *flate.Writer
	packed  bytes.Buffer
	already map[string]packed // texts that were compressed before
}

// packed is a text that was compressed, or one that is too short for that.
type packed struct {
	blocks []byte
	stored bool // as it is, in one block
	sum    checksum
}

// after returns the CRC-32 of a text that has the sum before, followed by this one.
func (p *packed) after(before uint32) uint32 {
	if p.stored {
		return crc32.Update(before, crc32.IEEETable, p.blocks[storedHead:])
	}
	return p.sum.after(before)
}

func newPacker() *packer {
	// The level exists, so that there is no error.
	w, _ := flate.NewWriter(nil, flate.DefaultCompression)
	return &packer{writer: w, already: map[string]packed{}}
}

// pack compresses a page once for all visitors. Each text between two gaps is compressed by
// itself and ends at a whole byte, so that a visitor's own values go between the texts.
func (p *packer) pack(r *Rendered) *Rendered {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := 0
	for _, c := range r.gaps {
		r.packed = append(r.packed, p.text(r.text[from:c.at]))
		from = c.at
	}
	r.packed = append(r.packed, p.text(r.text[from:]))
	return r
}

// text compresses a text, or returns what it has compressed before.
func (p *packer) text(text []byte) packed {
	if len(text) < shortest {
		return packed{blocks: appendStored(nil, text), stored: true}
	}
	if already, ok := p.already[string(text)]; ok {
		return already
	}
	p.packed.Reset()
	p.writer.Reset(&p.packed)
	// Writing to a buffer does not fail.
	_, _ = p.writer.Write(text)
	_ = p.writer.Flush()
	if len(p.already) == rememberedTexts {
		clear(p.already)
	}
	made := packed{blocks: bytes.Clone(p.packed.Bytes()), sum: checksumOf(text)}
	p.already[string(text)] = made
	return made
}

// appendStored appends a text of at most 65,535 bytes as a block that is not compressed.
func appendStored(dst, text []byte) []byte {
	return append(appendStoredHead(dst, len(text)), text...)
}

func appendStoredHead(dst []byte, length int) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, 0), uint16(length))
	return binary.LittleEndian.AppendUint16(dst, ^uint16(length))
}

// Packs reports whether AppendGzip can write the page for the visitor.
func (r *Rendered) Packs(v Visitor) bool { return r.packed != nil && len(v.Address) <= longestPacked }

// AppendGzip is AppendTo, compressed by gzip. The visitor's own values are not compressed: what
// is in an address cannot be guessed from the length of the page. AppendGzip allocates
// nothing if dst has space.
func (r *Rendered) AppendGzip(dst []byte, v Visitor) []byte {
	own := r.valuesOf(v)
	dst = append(dst, gzipHead...)
	sum, size := uint32(0), uint32(len(r.text))
	for i, c := range r.gaps {
		dst = append(dst, r.packed[i].blocks...)
		head := len(dst)
		dst = own.append(appendStoredHead(dst, 0), c.value)
		value := dst[head+storedHead:]
		appendStoredHead(dst[:head], len(value))
		sum = crc32.Update(r.packed[i].after(sum), crc32.IEEETable, value)
		size += uint32(len(value))
	}
	last := &r.packed[len(r.gaps)]
	dst = append(append(dst, last.blocks...), lastBlock...)
	dst = binary.LittleEndian.AppendUint32(dst, last.after(sum))
	return binary.LittleEndian.AppendUint32(dst, size)
}

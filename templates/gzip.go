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
	// rememberedTexts is how many texts are compressed only once. What comes before and after a room's numbers is the
	// same for a long time: the style, the script, and most of the words.
	rememberedTexts = 256
)

// packer compresses the texts of pages. It is safe for concurrent use.
type packer struct {
	mu      sync.Mutex
	writer  *flate.Writer
	packed  bytes.Buffer
	already map[string][]byte // texts that were compressed before
}

func newPacker() *packer {
	// The level exists, so that there is no error.
	w, _ := flate.NewWriter(nil, flate.DefaultCompression)
	return &packer{writer: w, already: map[string][]byte{}}
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
func (p *packer) text(text []byte) []byte {
	if len(text) < shortest {
		return appendStored(nil, text)
	}
	if packed, ok := p.already[string(text)]; ok {
		return packed
	}
	p.packed.Reset()
	p.writer.Reset(&p.packed)
	// Writing to a buffer does not fail.
	_, _ = p.writer.Write(text)
	_ = p.writer.Flush()
	if len(p.already) == rememberedTexts {
		clear(p.already)
	}
	packed := bytes.Clone(p.packed.Bytes())
	p.already[string(text)] = packed
	return packed
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
	sum, size, from := uint32(0), uint32(0), 0
	for i, c := range r.gaps {
		dst = append(dst, r.packed[i]...)
		head := len(dst)
		dst = own.append(appendStoredHead(dst, 0), c.value)
		value := dst[head+storedHead:]
		appendStoredHead(dst[:head], len(value))
		sum = crc32.Update(crc32.Update(sum, crc32.IEEETable, r.text[from:c.at]), crc32.IEEETable, value)
		size += uint32(len(value))
		from = c.at
	}
	dst = append(append(dst, r.packed[len(r.gaps)]...), lastBlock...)
	sum = crc32.Update(sum, crc32.IEEETable, r.text[from:])
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return binary.LittleEndian.AppendUint32(dst, size+uint32(len(r.text)))
}

package cookie

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// memory keeps values that have been opened, because a browser sends the same
// one with every part of a page. Each place holds the latest value that fell to
// it; that takes some hundred bytes, and a lookup compares the whole value.
type memory struct {
	seed   maphash.Seed
	places [1024]atomic.Pointer[opened]
}

// opened is a value and what it opened to. It does not change.
type opened struct {
	value   string
	payload string
	key     int
}

func newMemory() *memory { return &memory{seed: maphash.MakeSeed()} }

func (m *memory) place(value string) *atomic.Pointer[opened] {
	return &m.places[maphash.String(m.seed, value)%uint64(len(m.places))]
}

func (m *memory) get(value string) *opened {
	if known := m.place(value).Load(); known != nil && known.value == value {
		return known
	}
	return nil
}

// put remembers a copy of the value, which would else keep the whole header
// that it was found in.
func (m *memory) put(value string, payload []byte, key int) {
	m.place(value).Store(&opened{value: strings.Clone(value), payload: string(payload), key: key})
}

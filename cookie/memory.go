package cookie

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// memory keeps values that have been opened, because a browser sends the same value with
// every part of a page. A hash of the value chooses its entry, which has the latest such
// value. An entry takes some hundred bytes. get compares the whole value.
type memory struct {
	seed    maphash.Seed
	entries [1024]atomic.Pointer[opened]
}

// opened is a value with its payload and its key. It does not change.
type opened struct {
	value   string
	payload string
	key     int
}

func newMemory() *memory { return &memory{seed: maphash.MakeSeed()} }

func (m *memory) entry(value string) *atomic.Pointer[opened] {
	return &m.entries[maphash.String(m.seed, value)%uint64(len(m.entries))]
}

func (m *memory) get(value string) *opened {
	if known := m.entry(value).Load(); known != nil && known.value == value {
		return known
	}
	return nil
}

// put keeps a copy of the value: the value itself would keep the whole header in memory.
func (m *memory) put(value string, payload []byte, key int) {
	m.entry(value).Store(&opened{value: strings.Clone(value), payload: string(payload), key: key})
}

package cookie

import (
	"bytes"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

// memory keeps values that have been opened, because a browser sends the same value with
// every part of a page. Its table takes twice as many values as there may be good ones. Once it has
// so many it begins anew, and what browsers still send is opened once more. Reading takes no lock.
type memory struct {
	seed  maphash.Seed
	table atomic.Pointer[memoryTable] // nil before the first put

	mu   sync.Mutex // held by put and forget
	kept int        // for how many good values the table is
	free int        // how many more values it takes
}

// memoryTable is a table with open addressing. It has twice as many entries as values at least, so
// that a search ends soon.
type memoryTable []atomic.Pointer[opened]

// opened is a value with its payload and its key. It does not change. In a table, one without a
// value is of a value that was forgotten.
type opened struct {
	hash    uint64
	value   string
	payload []byte
	key     int
}

var forgotten opened

// For how many good values there is room: at first, in time without being told of more, and at most.
// A value takes some 400 bytes, and those that are not good any more as much: 100 MiB at most.
const (
	keptAtFirst = 32
	keptUntold  = 512
	mostKept    = 1 << 17
)

func newMemory() *memory { return &memory{seed: maphash.MakeSeed()} }

// search returns the entry that has a value, or the free one where it would be, and what it has.
func (t memoryTable) search(hash uint64, value string) (*atomic.Pointer[opened], *opened) {
	for at := hash; ; at++ {
		entry := &t[at%uint64(len(t))]
		known := entry.Load()
		if known == nil || known.hash == hash && known.value == value {
			return entry, known
		}
	}
}

func (m *memory) get(value string) *opened {
	t := m.table.Load()
	if t == nil {
		return nil
	}
	_, known := t.search(maphash.String(m.seed, value), value)
	return known
}

// put keeps a copy of the value: the value itself would keep the whole header in memory. So many
// values may be good. While another is put this one is not kept, until it comes again.
func (m *memory) put(value string, payload []byte, key, good int) {
	if !m.mu.TryLock() {
		return
	}
	defer m.mu.Unlock()
	if m.free == 0 {
		m.kept = min(max(good, keptAtFirst, min(2*m.kept, keptUntold)), mostKept)
		m.free = 2 * m.kept
		t := make(memoryTable, 2*m.free)
		m.table.Store(&t)
	}
	hash := maphash.String(m.seed, value)
	if entry, known := m.table.Load().search(hash, value); known == nil {
		entry.Store(&opened{hash: hash, value: strings.Clone(value), payload: bytes.Clone(payload), key: key})
		m.free--
	}
}

// forget drops a value.
func (m *memory) forget(value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.table.Load(); t != nil {
		if entry, known := t.search(maphash.String(m.seed, value), value); known != nil {
			entry.Store(&forgotten)
		}
	}
}

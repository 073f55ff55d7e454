package pressure

import (
	"hash/maphash"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Apart reports whether two paths fall into different groups: with this meter's seed.
func (m *Meter) Apart(a, b string) bool { return m.groupOf(a) != m.groupOf(b) }

// EntryOf is the entry that a visitor's requests are counted in.
func (m *Meter) EntryOf(visitor queue.ID) int {
	return int(max(1, maphash.Comparable(m.seed, visitor)) % entries)
}

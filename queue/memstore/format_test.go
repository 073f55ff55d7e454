package memstore_test

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// format is that of this version's journals. In the one before there were no items.
const format = 6

// inFormat is a journal as another version has written it: without one kind of records, and with
// another kind behind each.
func inFormat(version byte, journal []byte, without, more byte) []byte {
	var to []byte
	add := func(body []byte) {
		to = binary.BigEndian.AppendUint16(append(to, 0x5a), uint16(len(body)))
		to = binary.BigEndian.AppendUint16(to, ^uint16(len(body)))
		to = binary.BigEndian.AppendUint32(to, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		to = append(append(to, body...), 0xa5)
	}
	for journal[0] != 0 {
		end := 9 + int(binary.BigEndian.Uint16(journal[1:]))
		switch body := journal[9:end]; body[0] {
		case 'H':
			add(append([]byte{'H', version}, body[2:]...))
		case without:
		default:
			add(body)
			if more != 0 {
				add([]byte{more, 1, 2, 3})
			}
		}
		journal = journal[end+1:]
	}
	return append(to, make([]byte, 4096-len(to)%4096)...)
}

func TestAJournalOfTheFormatBeforeOrAfterIsRead(t *testing.T) {
	e := live(t)
	want := e.at(e.records)
	for name, journal := range map[string][]byte{
		"before": inFormat(format-1, e.bytes, 'P', 0),
		"own":    inFormat(format, e.bytes, 0, 0),
		"after":  inFormat(format+1, e.bytes, 0, 'Z'),
	} {
		t.Run(name, func(t *testing.T) {
			g, told := reopen(t, journal)
			v := g.look()
			assert.Empty(t, *told)
			assert.False(t, v.Recovering)
			assert.Equal(t, want.active, v.Active)
			assert.Equal(t, want.present, v.Present)
			g = g.restart(settings(), 21*time.Second)
			assert.Equal(t, want.active, g.look().Active)
			written, err := os.ReadFile(g.journal())
			require.NoError(t, err)
			assert.EqualValues(t, format, written[10], "it is written anew")
		})
	}
}

func TestAJournalOfAFormatThatIsFurtherAwayIsRefused(t *testing.T) {
	e := live(t)
	for version, want := range map[byte]string{format - 2: "format 4, and this gate reads 5 to 7", format + 2: "format 8, and this gate reads 5 to 7"} {
		dir, journal := t.TempDir(), inFormat(version, e.bytes, 0, 0)
		path := filepath.Join(dir, "rooms", "shop.journal")
		store, err := memstore.Open(dir)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, journal, 0o600))
		_, err = store.Sync(t.Context(), "shop", &queue.Report{Node: 1, Now: start})
		assert.ErrorContains(t, err, want, "in a room that begins later")
		require.NoError(t, store.Close())

		_, err = memstore.Open(dir)
		require.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, `room "shop"`)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, journal, left, "it stays as it is")
	}
}

package draws_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/draws"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

var start = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

func draw(name string) *event.Draw {
	return &event.Draw{Event: name, Prequeue: start.Add(-time.Hour), Start: start, Secret: event.Secret{1}}
}

// entry is the n-th entry.
func entry(n int) string { return fmt.Sprintf("%016d", n) }

// entries are how many entries a book has of a draw.
func entries(t *testing.T, b *draws.Book, room string, d *event.Draw) int {
	t.Helper()
	o, err := b.Order(room, d)
	require.NoError(t, err)
	h, err := b.Header(room, d)
	require.NoError(t, err)
	assert.Equal(t, o.Header, h)
	return len(o.Lines)
}

// files are those of a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "draws", "*", "*", "*"))
	require.NoError(t, err)
	return found
}

func TestEntriesOutliveTheirGate(t *testing.T) {
	dir, d := t.TempDir(), draw("sale")
	b := draws.Open(dir)
	for _, n := range []int{1, 2, 1} {
		require.NoError(t, b.Note("shop", d, entry(n)))
	}
	path := files(t, dir)[0]
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, "000"...), 0o600), "a line that was cut off")
	again := draws.Open(dir)
	assert.Equal(t, 2, entries(t, again, "shop", d), "of a gate that was killed")
	require.NoError(t, again.Note("shop", d, entry(3)))
	assert.Equal(t, 3, entries(t, again, "shop", d))
	assert.Equal(t, 3, entries(t, draws.Open(dir), "shop", d))
	assert.NoError(t, b.Close())
	assert.NoError(t, again.Close())
}

func TestRoomsAndEventsWithSimilarNamesHaveListsOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	b := draws.Open(dir)
	require.NoError(t, b.Note("a-b", draw("c"), entry(1)))
	assert.Equal(t, 0, entries(t, b, "a", draw("b-c")))
	assert.Equal(t, 1, entries(t, draws.Open(dir), "a-b", draw("c")))
}

func TestAListThatCannotBeReadIsNotPublishedInPart(t *testing.T) {
	dir, d := t.TempDir(), draw("sale")
	require.NoError(t, draws.Open(dir).Note("shop", d, entry(1)))
	path := files(t, dir)[0]
	require.NoError(t, os.Rename(path, path+".away"))
	require.NoError(t, os.Mkdir(path, 0o700))
	b := draws.Open(dir)
	assert.Error(t, b.Note("shop", d, entry(2)))
	for range 2 {
		_, err := b.Order("shop", d)
		assert.Error(t, err)
		_, err = b.Header("shop", d)
		assert.Error(t, err)
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Rename(path+".away", path))
	require.NoError(t, b.Note("shop", d, entry(3)))
	assert.Equal(t, 3, entries(t, b, "shop", d), "once the file can be read, all are there")
	assert.Equal(t, 3, entries(t, draws.Open(dir), "shop", d), "and written")
}

func TestListsAreRemovedWhenTheirDrawsAreNotKept(t *testing.T) {
	dir, old, young := t.TempDir(), draw("old"), draw("young")
	b := draws.Open(dir)
	require.NoError(t, b.Note("shop", old, entry(1)))
	require.NoError(t, b.Close())
	long := time.Now().Add(-event.DrawKept - time.Hour)
	require.NoError(t, os.Chtimes(files(t, dir)[0], long, long))
	require.NoError(t, b.Note("shop", young, entry(1)))
	require.NoError(t, b.Sweep(time.Now()))
	assert.Len(t, files(t, dir), 1)
	assert.Equal(t, 1, entries(t, b, "shop", young))
	require.NoError(t, b.Sweep(time.Now().Add(event.DrawKept+time.Hour)))
	assert.Empty(t, files(t, dir))
	assert.Equal(t, 0, entries(t, b, "shop", young))
}

package days_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/days"
)

// entry is a line of a hundred bytes and some.
type entry struct {
	At   time.Time
	Text string
}

// kept are the texts in a folder, a letter for each line.
func kept(t *testing.T, folder string) (texts string) {
	t.Helper()
	names, err := days.List(folder)
	require.NoError(t, err)
	for _, name := range names {
		require.NoError(t, days.Read(filepath.Join(folder, name), func(text []byte) {
			var e entry
			require.NoError(t, json.Unmarshal(text, &e))
			texts += e.Text[:1]
		}))
	}
	return texts
}

func TestWhatIsNewTakesTheSpaceOfWhatIsOld(t *testing.T) {
	folder, at := t.TempDir(), time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	files := days.New(days.Config[entry]{Folder: folder, Of: "the test", At: func(e *entry) time.Time { return e.At }, Keep: 30, Most: 1000, Log: zap.NewNop()})
	defer files.Close()
	write := func(texts string) {
		for _, letter := range texts {
			assert.Empty(t, files.Append(at, []entry{{at, strings.Repeat(string(letter), 60)}}))
		}
	}
	write("aaa")
	at = at.AddDate(0, 0, 1)
	write("bb")
	at = at.AddDate(0, 0, 1)
	write("cc")
	assert.Equal(t, "aaabbcc", kept(t, folder))
	write("dddd")
	assert.Equal(t, "bbccdddd", kept(t, folder), "the oldest day goes within a day")
	write("eeeeeeee")
	assert.Equal(t, "ccddddeeee", kept(t, folder), "today alone takes it all")
	at = at.AddDate(0, 0, 1)
	write("ff")
	assert.Equal(t, "ff", kept(t, folder))
}

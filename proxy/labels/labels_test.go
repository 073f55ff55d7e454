package labels_test

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/labels"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestLabelsOfWhoWasSeenLastAreKept(t *testing.T) {
	var l labels.Labels
	id := func(n int) (id queue.ID) {
		binary.BigEndian.PutUint64(id[:], uint64(n))
		return id
	}
	const people = 5 * labels.Most
	for n := range people {
		l.Note(id(n), strconv.Itoa(n))
		l.Note(id(0), "first")
	}
	assert.Equal(t, "first", l.Of(id(0)), "who is seen again is kept")
	kept := 0
	for n := range people {
		if l.Of(id(n)) != "" {
			kept++
		}
	}
	assert.GreaterOrEqual(t, kept, labels.Most)
	assert.LessOrEqual(t, kept, 2*labels.Most)
}

func TestALabelIsALineThatCanBeSeen(t *testing.T) {
	var l labels.Labels
	for given, want := range map[string]string{
		" Ann\r\nOther\x00 ": "AnnOther", "": "", "\x1b[31mred": "[31mred", "\u202eevil": "evil", "J\u00fcrgen \u674e": "J\u00fcrgen \u674e", "a\xffb": "ab",
		strings.Repeat("\u00fc", 81): strings.Repeat("\u00fc", 80) + "…",
	} {
		l = labels.Labels{}
		l.Note(queue.ID{1}, given)
		assert.Equal(t, want, l.Of(queue.ID{1}), "%q", given)
	}
}

package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anteroom-gate/anteroom/templates/spelling"
)

func TestTheNearestWordIsFound(t *testing.T) {
	words := []string{"origin", "origin_timeout", "queue_all", "queueing_method", "de-DE", "line"}
	for written, want := range map[string]string{
		"orgin": "origin", "ORIGIN": "origin", "origni": "origin", "originTimeout": "origin_timeout", "origin-timeout": "origin_timeout",
		"queue": "queue_all", "lane": "line", "de": "de-DE", "lineup": "line", "xyzzy": "", "": "", "q": "", "oirgni": "origin",
	} {
		assert.Equal(t, want, spelling.Nearest(written, words), written)
	}
	assert.Equal(t, 1, spelling.Distance("ab", "ba"), "neighbours that are swapped")
	assert.Equal(t, 3, spelling.Distance("kitten", "sitting"))
}

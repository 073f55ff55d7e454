package queue_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestEachMethodHasItsFacts(t *testing.T) {
	const unknown = queue.Reject + 1
	facts := map[string]struct {
		holds func(queue.Method) bool
		of    []queue.Method
	}{
		"earlier buckets go first":     {queue.Method.OrdersBuckets, []queue.Method{queue.FIFO}},
		"each visitor has a number":    {queue.Method.HasExactLine, []queue.Method{queue.Line}},
		"those who came earlier first": {queue.Method.KeepsOrder, []queue.Method{queue.FIFO, queue.Line}},
		"every check-in is a draw":     {queue.Method.Draws, []queue.Method{queue.Random}},
		"everyone enters":              {queue.Method.EveryoneEnters, []queue.Method{queue.Passthrough}},
		"nobody enters":                {queue.Method.NobodyEnters, []queue.Method{queue.Reject}},
	}
	for name, fact := range facts {
		t.Run(name, func(t *testing.T) {
			for m := queue.FIFO; m <= unknown; m++ {
				assert.Equal(t, slices.Contains(fact.of, m), fact.holds(m), m)
			}
		})
	}
}

func TestQueueAllHoldsEverybodyInEveryMethod(t *testing.T) {
	for m := queue.FIFO; m <= queue.Reject; m++ {
		open, held := queue.Settings{Method: m}, queue.Settings{Method: m, QueueAll: true}
		assert.Equal(t, m == queue.Passthrough, open.AdmitsEveryone(), m)
		assert.Equal(t, m == queue.Reject, open.AdmitsNobody(), m)
		assert.Equal(t, m == queue.Reject, open.RejectsAll(), m)
		assert.False(t, held.AdmitsEveryone(), m)
		assert.True(t, held.AdmitsNobody(), m)
		assert.False(t, held.RejectsAll(), m)
	}
}

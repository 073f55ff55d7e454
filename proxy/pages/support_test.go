package pages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestACodeFollowsFromTheVisitorAndTheKeyAlone(t *testing.T) {
	keyOf := func(keys ...cookie.Key) pages.SupportKey {
		k, err := pages.NewSupportKey(keys)
		require.NoError(t, err)
		return k
	}
	newKey := func() cookie.Key {
		key, err := cookie.ParseKey(cookie.NewKey())
		require.NoError(t, err)
		return key
	}
	current, other := newKey(), newKey()
	gate, another := keyOf(current), keyOf(current, other)
	seen := map[string]bool{}
	for i := range 1000 {
		code := gate.CodeOf(queue.ID{byte(i), byte(i >> 8)})
		assert.Regexp(t, `^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`, string(code[:]))
		assert.Equal(t, code, another.CodeOf(queue.ID{byte(i), byte(i >> 8)}), "at every gate with the key")
		assert.NotEqual(t, code, keyOf(other).CodeOf(queue.ID{byte(i), byte(i >> 8)}))
		seen[string(code[:])] = true
	}
	assert.Len(t, seen, 1000)
	id := queue.ID{7}
	assert.Zero(t, testing.AllocsPerRun(100, func() { gate.CodeOf(id) }))
}

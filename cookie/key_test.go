package cookie_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func TestNewKeyIsOneLineThatParses(t *testing.T) {
	text := cookie.NewKey()
	assert.GreaterOrEqual(t, len(text), 2*cookie.MinKeyLen)
	assert.NotContains(t, text, "\n")
	assert.NotEqual(t, text, cookie.NewKey())

	_, err := cookie.ParseKey("  " + text + "\r\n")
	require.NoError(t, err)
}

func TestParseKeySaysWhatIsWrongAndQuotesNothing(t *testing.T) {
	good := cookie.NewKey()
	for name, test := range map[string]struct{ text, want string }{
		"empty":                  {" \n", "empty"},
		"cut short":              {good[:31], "has 31 characters, which is fewer than 32"},
		"one character repeated": {strings.Repeat("A", 86), "repeats a single character"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cookie.ParseKey(test.text)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), good[:20])
		})
	}
}

func TestAnyLongSecretIsAKeyOfItsOwn(t *testing.T) {
	codecs := make([]*cookie.Codec, 2)
	for i, secret := range []string{"2f1a90c3b7d84e56a1f0c9d2e3b4a596", "2f1a90c3b7d84e56a1f0c9d2e3b4a597"} {
		key, err := cookie.ParseKey(secret)
		require.NoError(t, err)
		codecs[i], err = cookie.New(cookie.Config{Name: cookie.Name("shop"), Keys: []cookie.Key{key}})
		require.NoError(t, err)
	}
	value, err := codecs[0].Encode([]byte("payload"))
	require.NoError(t, err)
	_, _, ok := codecs[0].Decode(value)
	assert.True(t, ok)
	_, _, ok = codecs[1].Decode(value)
	assert.False(t, ok)
}

func TestKeyNeverShowsItsSecret(t *testing.T) {
	text := "0123456789" + cookie.NewKey()[10:]
	key, err := cookie.ParseKey(text)
	require.NoError(t, err)
	other, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)

	type config struct{ key cookie.Key }
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		assert.Equal(t, fmt.Sprintf(verb, other), fmt.Sprintf(verb, key), verb)
		assert.Contains(t, fmt.Sprintf(verb, key), "secret", verb)
		assert.NotContains(t, fmt.Sprintf(verb, config{key}), text[:10], verb)
	}
	assert.Equal(t, "no cookie key", cookie.Key{}.String())
}

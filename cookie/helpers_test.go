package cookie_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func newKey(t testing.TB) cookie.Key {
	t.Helper()
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	return key
}

func newCodec(t testing.TB, name string, keys ...cookie.Key) *cookie.Codec {
	t.Helper()
	if len(keys) == 0 {
		keys = []cookie.Key{newKey(t)}
	}
	codec, err := cookie.New(cookie.Config{Name: name, Keys: keys})
	require.NoError(t, err)
	return codec
}

func newJar(t testing.TB, codec *cookie.Codec, attributes cookie.Attributes) *cookie.Jar {
	t.Helper()
	jar, err := cookie.NewJar(codec, attributes)
	require.NoError(t, err)
	return jar
}

func seal(t testing.TB, codec *cookie.Codec, payload string) string {
	t.Helper()
	value, err := codec.Encode([]byte(payload))
	require.NoError(t, err)
	return value
}

func withCookies(lines ...string) http.Header {
	return http.Header{"Cookie": lines}
}

// payload of the usual length of a ticket.
var payload36 = []byte(strings.Repeat("fairdoor", 4) + "tail")

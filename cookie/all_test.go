package cookie_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

// Whatever a header says, all rooms' cookies at once are what each jar finds for itself.
func TestReadAllFindsWhatEachJarFinds(t *testing.T) {
	key := newKey(t)
	jars := map[string]*cookie.Jar{}
	parts := []string{"; ", ";", " ", "\t", "=", "\"", "x", "a=b", "fairdoor_", "__Host-", "shop", "."}
	for _, name := range []string{"shop", "shop.1", "fairdoor_shop", "show"} {
		codec := newCodec(t, cookie.Name(name), key)
		jars[codec.Name()] = newJar(t, codec, cookie.Attributes{})
		parts = append(parts, codec.Name()+"="+seal(t, codec, name), "; __Host-"+codec.Name()+"="+seal(t, codec, "host "+name), "; "+codec.Name()+"=junk")
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := make([]string, rapid.IntRange(0, 3).Draw(t, "lines"))
		for i := range lines {
			lines[i] = strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "line"), "")
		}
		header := withCookies(lines...)
		all, err := cookie.ReadAll(header)
		for name, jar := range jars {
			want, wrong := jar.Read(header)
			require.Equal(t, wrong, err)
			if err == nil {
				require.Equal(t, want, jar.ReadFrom(all), name)
			}
			if want.Payload != nil {
				require.Contains(t, all.Names(), name)
			}
		}
	})
}

func TestReadAllRefusesWhatNoJarReads(t *testing.T) {
	_, err := cookie.ReadAll(withCookies(strings.Repeat("a=b; ", 5000)))
	require.ErrorIs(t, err, cookie.ErrUnreadable)
}

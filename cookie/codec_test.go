package cookie_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func TestNewRefusesWhatCannotSeal(t *testing.T) {
	key := newKey(t)
	for name, test := range map[string]struct {
		config cookie.Config
		want   string
	}{
		"no key":                    {cookie.Config{Name: cookie.Name("shop")}, "key is required"},
		"a key that is not set":     {cookie.Config{Name: cookie.Name("shop"), Keys: []cookie.Key{key, {}}}, "key 2 is not set"},
		"no name":                   {cookie.Config{Keys: []cookie.Key{key}}, "does not begin with"},
		"a name that is not ours":   {cookie.Config{Name: "session", Keys: []cookie.Key{key}}, "does not begin with"},
		"a name without its room":   {cookie.Config{Name: cookie.Name(""), Keys: []cookie.Key{key}}, "needs the name of its room"},
		"a name that ends the MAC":  {cookie.Config{Name: cookie.Name("a|1"), Keys: []cookie.Key{key}}, "only letters"},
		"a name that ends a cookie": {cookie.Config{Name: cookie.Name("a;b"), Keys: []cookie.Key{key}}, "only letters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cookie.New(test.config)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestEncodeLeavesThePayloadAsItIs(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	payload := bytes.Clone(payload36)
	_, err := codec.Encode(payload)
	require.NoError(t, err)
	assert.Equal(t, payload36, payload)
}

func TestEncodeRefusesWhatWouldNotOpen(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	for _, payload := range [][]byte{nil, {}, make([]byte, 300)} {
		_, err := codec.Encode(payload)
		require.Error(t, err, "%d bytes", len(payload))
	}
}

func TestEveryPayloadThatCanBeSealedOpens(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	for size := 1; size < 400; size++ {
		payload := bytes.Repeat([]byte{'|'}, size)
		value, err := codec.Encode(payload)
		if err != nil {
			assert.Greater(t, size, 150, "a ticket of %d bytes should fit", size)
			return
		}
		opened, _, ok := codec.Decode(value)
		require.True(t, ok, "%d bytes", size)
		require.Equal(t, payload, opened)
		require.LessOrEqual(t, len(value), cookie.MaxValueLen)
	}
	t.Fatal("nothing was too long")
}

func TestTheLargestTicketStaysBelow256Bytes(t *testing.T) {
	assert.Less(t, len(seal(t, newCodec(t, cookie.Name("shop")), strings.Repeat("x", 46))), 256)

	// With its name and all attributes too, for rooms with names of up to 13
	// characters.
	longest := 0
	for _, name := range []string{"shop", "default", "night-of-2027"} {
		jar := newJar(t, newCodec(t, cookie.Name(name)), cookie.Attributes{})
		header, err := jar.Seal(payload36, true)
		require.NoError(t, err)
		longest = max(longest, len(header))
	}
	assert.Equal(t, 255, longest, "nothing may be added")
}

func TestDecodeSaysNoToWhatItDidNotSeal(t *testing.T) {
	key := newKey(t)
	codec := newCodec(t, cookie.Name("shop"), key)
	good := seal(t, codec, "ticket")
	for name, value := range map[string]string{
		"nothing":                  "",
		"no base64":                "!!!",
		"a value that is cut":      good[:len(good)-4],
		"a value that is extended": good + "AAAA",
		"a value of another key":   seal(t, newCodec(t, cookie.Name("shop")), "ticket"),
		"a value of another room":  seal(t, newCodec(t, cookie.Name("show"), key), "ticket"),
		"an over-long value":       strings.Repeat("A", cookie.MaxValueLen+1),
		"a good value made longer": good + strings.Repeat("\n", cookie.MaxValueLen),
	} {
		t.Run(name, func(t *testing.T) {
			payload, _, ok := codec.Decode(value)
			assert.False(t, ok)
			assert.Nil(t, payload)
		})
	}
}

// What is over-long costs next to nothing: not even the base64 is read.
func TestDecodeRefusesOverLongValuesBeforeAnyWork(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	value := strings.Repeat("A", cookie.MaxValueLen+1)
	assert.Zero(t, testing.AllocsPerRun(100, func() { codec.Decode(value) }))
}

// A value is not an identity: several strings open to one payload.
func TestSpellingsOfAValueOpenToTheSamePayload(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	// Of lengths 1, 2 and 3 one at least leaves bits of base64 unused.
	spellings := 0
	for _, payload := range []string{"1", "22", "333", "4444"} {
		value := seal(t, codec, payload)
		for _, other := range append(lastCharacterVariants(value), value[:9]+"\r\n"+value[9:]) {
			opened, _, ok := codec.Decode(other)
			if ok {
				spellings++
				assert.Equal(t, payload, string(opened))
			}
		}
	}
	assert.Greater(t, spellings, 4)
}

func lastCharacterVariants(value string) []string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(strings.TrimRight(value, "=")) - 1
	var variants []string
	for _, c := range alphabet {
		if byte(c) != value[last] {
			variants = append(variants, value[:last]+string(c)+value[last+1:])
		}
	}
	return variants
}

// Age is for the payload to say: the codec opens what was sealed decades ago,
// or by a clock that is decades ahead.
func TestAValueNeverExpires(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	now := seal(t, codec, "now")
	var old string
	synctest.Test(t, func(t *testing.T) { // the year is 2000
		old = seal(t, codec, "old")
		_, _, ok := codec.Decode(now)
		assert.True(t, ok)
	})
	_, _, ok := codec.Decode(old)
	assert.True(t, ok)
}

func TestRotatedKeysKeepOpeningAndAreTold(t *testing.T) {
	keys := []cookie.Key{newKey(t), newKey(t), newKey(t), newKey(t)}
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation(keys).Draw(t, "keys")
		have := order[:rapid.IntRange(1, len(order)).Draw(t, "have")]
		sealedBy := rapid.IntRange(0, len(order)-1).Draw(t, "sealed by")
		payload := rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "payload")

		old, err := cookie.New(cookie.Config{Name: cookie.Name("shop"), Keys: order[sealedBy : sealedBy+1]})
		require.NoError(t, err)
		value, err := old.Encode(payload)
		require.NoError(t, err)

		now, err := cookie.New(cookie.Config{Name: cookie.Name("shop"), Keys: have})
		require.NoError(t, err)
		opened, key, ok := now.Decode(value)
		require.Equal(t, sealedBy < len(have), ok)
		if ok {
			require.Equal(t, sealedBy, key)
			require.Equal(t, payload, opened)
		}
	})
}

func FuzzDecode(f *testing.F) {
	// Fixed, so that what is found once is found again.
	key, err := cookie.ParseKey(strings.Repeat("k9-_", 21) + "aA")
	require.NoError(f, err)
	codec := newCodec(f, cookie.Name("shop"), key)
	good := seal(f, codec, "ticket")
	f.Add(good, 3, byte('x'))
	f.Add(good[:len(good)-1], len(good)-2, byte('='))
	f.Add("", 0, byte(0))
	f.Add("MTIzfHx8", 1, byte('|'))

	f.Fuzz(func(t *testing.T, text string, at int, c byte) {
		if payload, _, ok := codec.Decode(text); ok {
			again, _, ok := codec.Decode(seal(t, codec, string(payload)))
			require.True(t, ok)
			require.Equal(t, payload, again)
		}
		if text == "" || len(text) > 64 {
			return
		}
		value := []byte(seal(t, codec, text))
		value[uint(at)%uint(len(value))] = c
		if payload, _, ok := codec.Decode(string(value)); ok {
			require.Equal(t, text, string(payload))
		}
	})
}

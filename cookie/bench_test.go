package cookie_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/securecookie"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func BenchmarkEncode(b *testing.B) {
	codec := newCodec(b, cookie.Name("shop"))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = codec.Encode(payload36)
	}
}

func BenchmarkDecode(b *testing.B) {
	codec := newCodec(b, cookie.Name("shop"))
	value := seal(b, codec, string(payload36))
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = codec.Decode(value)
	}
}

func BenchmarkDecodeForged(b *testing.B) {
	codec := newCodec(b, cookie.Name("shop"))
	value := seal(b, newCodec(b, cookie.Name("shop")), string(payload36))
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = codec.Decode(value)
	}
}

func bareSecureCookie() *securecookie.SecureCookie {
	return securecookie.New(securecookie.GenerateRandomKey(32), securecookie.GenerateRandomKey(32)).
		SetSerializer(securecookie.NopEncoder{}).MaxAge(0)
}

// BenchmarkBareEncode is the library alone, to compare BenchmarkEncode with.
func BenchmarkBareEncode(b *testing.B) {
	bare, payload := bareSecureCookie(), bytes.Clone(payload36)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = bare.Encode("fairdoor_shop", payload)
	}
}

// BenchmarkBareDecode is the library alone, to compare BenchmarkDecode with.
func BenchmarkBareDecode(b *testing.B) {
	bare := bareSecureCookie()
	value, err := bare.Encode("fairdoor_shop", bytes.Clone(payload36))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		var payload []byte
		_ = bare.Decode("fairdoor_shop", value, &payload)
	}
}

var others = strings.Repeat("_ga_ABCDEFG=GS1.1.1700000000.1.1.1700000000; ", 10)

// BenchmarkReadNone is the price of looking: no ticket is there to be opened.
func BenchmarkReadNone(b *testing.B) {
	jar := newJar(b, newCodec(b, cookie.Name("shop")), cookie.Attributes{})
	header := withCookies(others + "fairdoor_other=1")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = jar.Read(header)
	}
}

func BenchmarkRead(b *testing.B) {
	codec := newCodec(b, cookie.Name("shop"))
	jar := newJar(b, codec, cookie.Attributes{})
	header := withCookies(others + "__Host-fairdoor_shop=" + seal(b, codec, string(payload36)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = jar.Read(header)
	}
}

// BenchmarkReadForged is the most that a request can cost: a header full of forged
// values.
func BenchmarkReadForged(b *testing.B) {
	codec := newCodec(b, cookie.Name("shop"))
	jar := newJar(b, codec, cookie.Attributes{})
	forged := seal(b, newCodec(b, cookie.Name("shop")), "x")
	header := withCookies(strings.Repeat("fairdoor_shop="+forged+"; ", 150))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = jar.Read(header)
	}
}

func BenchmarkSetCookie(b *testing.B) {
	codec := newCodec(b, cookie.Name("shop"))
	jar, value := newJar(b, codec, cookie.Attributes{}), seal(b, codec, string(payload36))
	b.ReportAllocs()
	for b.Loop() {
		_ = jar.SetCookie(value, true)
	}
}

func BenchmarkStrip(b *testing.B) {
	line := others + "__Host-fairdoor_shop=value; last=1"
	lines := []string{line}
	header := http.Header{"Cookie": lines}
	b.ReportAllocs()
	for b.Loop() {
		lines[0] = line
		cookie.Strip(header)
	}
}

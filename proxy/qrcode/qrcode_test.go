package qrcode_test

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/qrcode"
)

// modules is how many modules a side of the code of a text has.
func modules(t *testing.T, text string) int {
	t.Helper()
	url, err := qrcode.URL(text)
	require.NoError(t, err)
	svg, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/svg+xml;base64,"))
	require.NoError(t, err)
	n, err := strconv.Atoi(regexp.MustCompile(`viewBox="0 0 (\d+) `).FindStringSubmatch(string(svg))[1])
	require.NoError(t, err)
	return n - 8 // the quiet zone
}

func TestCapitalsAndDigitsAtTheEndOfALinkMakeASmallerCode(t *testing.T) {
	const link = "https://tickets.nordlys-festival.example/.fairdoor/move?room=spring-sale&t="
	assert.Equal(t, 57, modules(t, link+strings.Repeat("a2", 80)))
	assert.Equal(t, 49, modules(t, link+strings.Repeat("A2", 80)))
	assert.Equal(t, 21, modules(t, "HTTPS://A.EXAMPLE/1"))
	_, err := qrcode.URL(strings.Repeat("a", 3000))
	assert.Error(t, err)
}

package route_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// Every byte on its own, by the rules of readings: only those of the list
// change a path or are beyond ASCII.
func TestWhichBytesHaveMoreThanOneReading(t *testing.T) {
	for c := range 256 {
		got, ok := route.Readings("/a" + string([]byte{byte(c)}) + "b")
		want := 1
		if strings.IndexByte("\x00#;\\", byte(c)) >= 0 {
			want = 2
		}
		assert.True(t, ok, "byte %#x", c)
		assert.Len(t, got, want, "byte %#x", c)
	}
}

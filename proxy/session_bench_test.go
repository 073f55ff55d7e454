package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// BenchmarkSessionOfManyRooms asks a gate of 900 rooms how one stands, with as many cookies as it
// reads.
func BenchmarkSessionOfManyRooms(b *testing.B) {
	const rooms, most = 900, 16 << 10
	f := gatetest.Start(b, func(c *proxy.Config, _ *proxy.Options) {
		model := c.Rooms[0]
		c.Rooms = nil
		for i := range rooms {
			r := model
			r.Name, r.Routes = fmt.Sprintf("r%d", i), append(r.Routes[:0:0], r.Routes...)
			r.Routes[0].Path = "/" + r.Name
			r.Settings.Method = queue.FIFO
			c.Rooms = append(c.Rooms, r)
		}
	})
	for name, cookieOf := range map[string]func(i int) string{
		"others' cookies":   func(i int) string { return fmt.Sprintf("other%d=0123456789", i) },
		"junk of ours":      func(i int) string { return fmt.Sprintf("fairdoor_r%d=0123456789", i%rooms) },
		"names with dots":   func(i int) string { return fmt.Sprintf("fairdoor_%d%s=1", i, strings.Repeat(".", 2000)) },
		"names without end": func(i int) string { return strings.Repeat("x_fairdoor_", 1400) },
		"true tickets": func(i int) string {
			name := fmt.Sprintf("r%d", i%rooms)
			v := f.Visitor()
			v.Get("/" + name)
			return "fairdoor_" + name + "=" + v.Cookies["fairdoor_"+name]
		},
	} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			cookies := cookieOf(0)
			for i := 1; ; i++ {
				next := cookieOf(i)
				if len(cookies)+2+len(next) > most {
					break
				}
				cookies += "; " + next
			}
			r, w := browserRequest(""), &gatetest.Discard{Fields: http.Header{}}
			r.URL.Path, r.URL.RawQuery, r.RequestURI = "/.fairdoor/session", "", "/.fairdoor/session"
			r.Header.Set("Cookie", cookies)
			b.ReportAllocs()
			for b.Loop() {
				w.Reset()
				f.ServeHTTP(w, r)
			}
			require.Zero(b, w.Status/300)
			require.NotZero(b, w.Bytes)
		})
	}
}

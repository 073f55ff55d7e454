package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/accesslog"
	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// What a gate writes of its requests, it can be asked to simulate.
func TestTheAccessLogOfAGateIsReadAsThatOfAnyServer(t *testing.T) {
	for _, format := range []string{"json", "combined"} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "access.log")
			written, file, err := openAccessLog(config.AccessLog{To: path, Format: format, Sample: 1})
			require.NoError(t, err)
			f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 10 }),
				func(_ *proxy.Config, o *proxy.Options) { o.AccessLog = written })
			for i := range 3 {
				v := f.Visitor()
				for _, page := range []string{"/", "/tickets?code=secret"} {
					require.True(t, v.Get(page, gatetest.At(fmt.Sprintf("192.0.2.%d", i)), gatetest.With("User-Agent", "Mozilla/5.0")).In())
				}
				v.Get("/.fairdoor/session?room=shop", gatetest.At(fmt.Sprintf("192.0.2.%d", i)))
			}
			var text []byte
			f.Soon(func() bool { // lines are written when those who asked have their answers
				text, err = os.ReadFile(path)
				return err == nil && bytes.Count(text, []byte("\n")) == 9
			})
			require.NoError(t, file.close())
			r, err := accesslog.NewReader(queue.Settings{}.WithDefaults())
			require.NoError(t, err)
			require.NoError(t, r.Read(path, strings.NewReader(string(text))))
			l := r.Log()
			require.NoError(t, l.WriteSummary(io.Discard, queue.Settings{}.WithDefaults()))
			assert.Equal(t, [5]int{9, 0, 3, 3, 3}, [5]int{l.Lines, l.Skipped, l.Visitors, l.Visits, l.LeftOut.Exempt}, string(text))
			assert.NotContains(t, string(text), "secret")
			mode, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), mode.Mode().Perm())
		})
	}
	_, _, err := openAccessLog(config.AccessLog{To: t.TempDir()})
	require.ErrorContains(t, err, "opening the access log")
}

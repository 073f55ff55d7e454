package listen

import (
	"bytes"
	"log"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// errorLog is the log of an http.Server. Strangers can fill it, for example by TLS handshakes that
// fail: so it takes only a few lines a second, besides panics. The message is a constant because
// the sampler counts by it.
func errorLog(l *zap.Logger) *log.Logger {
	sampled := l.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(c, time.Second, 5, 0)
	}))
	return log.New(errorWriter{all: l, sampled: sampled}, "", 0)
}

type errorWriter struct{ all, sampled *zap.Logger }

func (w errorWriter) Write(line []byte) (int, error) {
	text := zap.ByteString("text", bytes.TrimSpace(line))
	switch {
	case bytes.Contains(line, []byte("panic serving")):
		w.all.Error("a handler panicked", text)
	case bytes.Contains(line, []byte("TLS handshake error")) && slices.ContainsFunc(probes, func(end string) bool { return bytes.HasSuffix(bytes.TrimSpace(line), []byte(end)) }):
		w.sampled.Debug("connection without a TLS handshake", text)
	default:
		w.sampled.Warn("http server reports", text)
	}
	return len(line), nil
}

// probes are the ends of what net/http reports of connections by which a balancer's check or a
// scanner looks at a port that speaks TLS.
var probes = []string{"EOF", errInsecure.Error(), "connection reset by peer", "i/o timeout", "first record does not look like a TLS handshake"}

package listen

import (
	"bytes"
	"log"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// errorLog is the log of an http.Server. Strangers can fill it (with a TLS handshake that fails, say), so all but panics
// is kept to a few lines a second; the message is a constant because the sampler counts by it.
func errorLog(l *zap.Logger) *log.Logger {
	sampled := l.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(c, time.Second, 5, 0)
	}))
	return log.New(errorWriter{all: l, sampled: sampled}, "", 0)
}

type errorWriter struct{ all, sampled *zap.Logger }

func (w errorWriter) Write(line []byte) (int, error) {
	text := zap.ByteString("text", bytes.TrimSpace(line))
	if bytes.Contains(line, []byte("panic serving")) {
		w.all.Error("a handler panicked", text)
	} else {
		w.sampled.Warn("http server reports", text)
	}
	return len(line), nil
}

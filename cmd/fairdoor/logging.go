package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy/accesslog"
)

// openAccessLog opens the access log, if there is to be one. The file is nil where it is none.
func openAccessLog(c config.AccessLog) (log accesslog.Config, file *logFile, err error) {
	log = accesslog.Config{Combined: c.Format == "combined", Sample: c.Sample}
	switch c.To {
	case "":
	case config.Stdout:
		log.To = zapcore.AddSync(os.Stdout)
	default:
		file = &logFile{path: c.To}
		if err := file.reopen(); err != nil {
			return log, nil, err
		}
		log.To = file
	}
	return log, file, nil
}

// logFile is a file that lines are appended to. Others may not read it: it has addresses.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
}

// reopen goes on in the file that has the path now, or in the old one if that cannot be opened.
func (f *logFile) reopen() error {
	if f == nil {
		return nil
	}
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the access log: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.file
	f.file = file
	if old == nil {
		return nil
	}
	return old.Close()
}

// Write implements [zapcore.WriteSyncer].
func (f *logFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Write(line)
}

// Sync does nothing: what is written is the system's to keep.
func (*logFile) Sync() error { return nil }

func (f *logFile) close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}

// newLog returns the program's log, which writes to w: JSON lines, or text for people if w
// is a terminal or the configuration says so.
func newLog(c config.Log, w io.Writer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		return nil, fmt.Errorf("reading the log level: %w", err)
	}
	human := c.Format == "console" || c.Format == "auto" && isTerminal(w)
	options := zap.NewProductionEncoderConfig()
	options.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	options.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(options)
	if human {
		options.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05")
		options.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(options)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)), nil
}

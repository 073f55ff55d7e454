package main

import (
	"fmt"
	"io"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/proxy/accesslog"
)

// openAccessLog opens the access log, if there is to be one. Others may not read the file: it has
// addresses.
func openAccessLog(c config.AccessLog) (log accesslog.Config, closer func() error, err error) {
	log = accesslog.Config{Combined: c.Format == "combined", Sample: c.Sample}
	switch c.To {
	case "":
		return log, func() error { return nil }, nil
	case config.Stdout:
		log.To = zapcore.AddSync(os.Stdout)
		return log, func() error { return nil }, nil
	}
	file, err := os.OpenFile(c.To, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return log, nil, fmt.Errorf("opening the access log: %w", err)
	}
	log.To = file
	return log, file.Close, nil
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

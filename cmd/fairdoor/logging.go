package main

import (
	"fmt"
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

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

package queue_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/setting"
)

// A zero duration stands for the default: one that could be set would not last.
func TestNoSettingWithADefaultDurationMayBeZero(t *testing.T) {
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		if f.Type != reflect.TypeFor[time.Duration]() || f.Default == "" {
			continue
		}
		usual, err := time.ParseDuration(f.Default)
		require.NoError(t, err)
		least, err := time.ParseDuration(f.Min)
		require.NoError(t, err)
		assert.True(t, usual == 0 || least > 0, "%s: its default is %v, and it may be %v", f.Name, usual, least)
	}
}

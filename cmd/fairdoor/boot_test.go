package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestHowLongTheMachineHasBeenUpIsKnownWhereItSaysSo(t *testing.T) {
	boot, up := sinceBoot()
	if runtime.GOOS != "linux" {
		assert.Zero(t, boot)
		return
	}
	again, later := sinceBoot()
	assert.NotZero(t, boot)
	assert.Equal(t, boot, again)
	assert.Greater(t, up, time.Second)
	assert.GreaterOrEqual(t, later, up)
}

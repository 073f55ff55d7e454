package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const mega = 1 << 20

func TestGarbageIsCollectedRarelyWhileThereIsLittle(t *testing.T) {
	for inUse, percent := range map[uint64]int{
		0: 1000, 5 * mega: 1000, 12 * mega: 525, 16 * mega: 400, 64 * mega: 150, 128 * mega: 75, 256 * mega: 25, 4096 * mega: 25,
	} {
		assert.Equal(t, percent, new(garbage).percent(inUse, 0), "with %d MiB in use", inUse/mega)
	}
}

func TestMoreGarbageIsAllowedWhileCollectionsAreFrequent(t *testing.T) {
	var g garbage
	collections := uint64(0)
	// spend has a collection come every so often for a minute, with 64 MiB in use.
	spend := func(every time.Duration) (percent int) {
		for now := time.Duration(0); now < time.Minute; now += looks {
			if now%every == 0 {
				collections++
			}
			percent = g.percent(64*mega, collections)
		}
		return percent
	}
	assert.Equal(t, 150, spend(2*time.Second))
	assert.Equal(t, 300, spend(600*time.Millisecond))
	assert.Equal(t, 300, spend(1200*time.Millisecond), "which is what the larger heap makes of it")
	assert.Equal(t, 150, spend(10*time.Second))
}

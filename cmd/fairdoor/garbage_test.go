package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGarbageIsCollectedRarelyWhileThereIsLittle(t *testing.T) {
	const mega = 1 << 20
	for inUse, percent := range map[uint64]int{
		0: 1000, 5 * mega: 1000, 12 * mega: 525, 16 * mega: 400, 64 * mega: 150, 128 * mega: 75, 256 * mega: 25, 4096 * mega: 25,
	} {
		assert.Equal(t, percent, garbagePercent(inUse), "with %d MiB in use", inUse/mega)
	}
}

//go:build !race

package world_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/world"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// A gate whose disk is full says so once, and not at each call that has nothing to write.
func TestAFullDiskIsToldOnce(t *testing.T) {
	p := world.Draw(1)
	p.Gates, p.Redis, p.Lasts, p.Settings.Method = 1, false, 3*time.Minute, queue.FIFO
	p.Faults = []world.Fault{{Kind: "full disk", At: time.Minute, Lasts: time.Minute, Gate: 1}}
	var logged []string
	for _, e := range world.Run(t, p).Events {
		if e.What == world.Said && strings.HasPrefix(e.Text, "store ") {
			logged = append(logged, e.Text)
		}
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "the disk of the journal is full") {
		t.Errorf("the gate logs %d lines: %q", len(logged), logged[:min(len(logged), 4)])
	}
}

package main

import (
	"context"
	"os"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// Program is run, for tests.
var Program = run

// Sparkline draws how numbers have changed.
var Sparkline = sparkline

// StatusInColor is what a terminal shows of the gate that FAIRDOOR_ADMIN names.
func StatusInColor(ctx context.Context) ([]byte, error) {
	return statusTable{color: true}.show(ctx, client.API{URL: os.Getenv("FAIRDOOR_ADMIN")})
}

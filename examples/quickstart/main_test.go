package main

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
)

func TestTwoAreInTheShopAndTheThirdWaits(t *testing.T) {
	at := stagetest.Addresses(t)
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error { return run(ctx, out, at) })
	for range 2 {
		assert.Contains(t, stagetest.Text(t, stagetest.Visitor(t), http.MethodGet, "http://"+at.Gate), "Welcome to the shop")
	}
	assert.Contains(t, stagetest.Text(t, stagetest.Visitor(t), http.MethodGet, "http://"+at.Gate), "You are in the waiting room")
}

package main

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
)

func TestTheThirdVisitorWaitsUntilOneOfTwoHasLeft(t *testing.T) {
	at := stagetest.Addresses(t)
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error { return run(ctx, out, at) })
	leaves, stays, waits := stagetest.Visitor(t), stagetest.Visitor(t), stagetest.Visitor(t)
	shop := "http://" + at.Gate
	require.Eventually(t, func() bool {
		answer, err := leaves.Get(shop)
		return err == nil && answer.Body.Close() == nil
	}, time.Minute, 20*time.Millisecond, "the shop opens")
	assert.Contains(t, stagetest.Text(t, leaves, http.MethodGet, shop), "Welcome to the shop")
	assert.Contains(t, stagetest.Text(t, stays, http.MethodGet, shop), "Welcome to the shop")
	require.Contains(t, stagetest.Text(t, waits, http.MethodGet, shop), "You are in the waiting room")
	require.Contains(t, stagetest.Text(t, leaves, http.MethodPost, shop+"/leave"), "Goodbye")
	require.Eventually(t, func() bool { return status(t, waits, shop+"/api/offers") == http.StatusOK }, time.Minute, 500*time.Millisecond)
	assert.Contains(t, stagetest.Text(t, stays, http.MethodGet, shop), "Welcome to the shop")
}

// status is that of a site's answer, or 0 for the room's.
func status(t *testing.T, visitor *http.Client, url string) int {
	t.Helper()
	answer, err := visitor.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	if answer.Header.Get("Fairdoor-Room") != "" {
		return 0
	}
	return answer.StatusCode
}

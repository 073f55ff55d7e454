package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// start runs the example and returns its addresses, and those of shop and
// partner as they are opened.
func start(t *testing.T) (at stage.Addresses, shop, partner string) {
	t.Helper()
	at = stagetest.Addresses(t)
	partner = porttest.Address(t)
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error { return run(ctx, out, at, partner) })
	return at, strings.Replace("https://"+at.Gate, "127.0.0.1", "localhost", 1), "https://" + partner
}

func TestTheTicketIsMadeForFrames(t *testing.T) {
	_, shop, partner := start(t)
	assert.Contains(t, stagetest.Text(t, stagetest.Visitor(t), http.MethodGet, partner), shop)
	visitor := stagetest.Visitor(t)
	answer, err := visitor.Get(shop)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	ticket := answer.Header.Get("Set-Cookie")
	for _, attribute := range []string{"__Host-fairdoor_", "HttpOnly", "Secure", "SameSite=None", "Partitioned"} {
		assert.Contains(t, ticket, attribute)
	}
}

func TestAVisitorWaitsInTheFrameAndGetsIn(t *testing.T) {
	at, shop, partner := start(t)
	first := stagetest.Visitor(t)
	require.Contains(t, stagetest.Text(t, first, http.MethodGet, shop), "Welcome to the shop")

	browser, err := browsertest.Start(map[string]any{
		"ignore-certificate-errors":        true,
		"test-third-party-cookie-phaseout": true, // as browsers do that block cookies of other sites
	})
	require.NoError(t, err)
	defer browser.Stop()
	tab := browser.Visitor(t)
	tab.Open(partner)
	frame := tab.Frame(shop)
	frame.Until(`document.body.innerText.includes('You are in the waiting room')`)
	tab.RequireAccessible()
	tab.Screenshot("iframe-waiting")
	was := browsertest.Eval[string](frame, `document.getElementById('updated').dateTime`)
	frame.Until(`document.getElementById('updated').dateTime !== '` + was + `'`)
	assert.Equal(t, 1, queued(t, at.Admin), "it is the same visitor, checking in")

	require.Contains(t, stagetest.Text(t, first, http.MethodPost, shop+"/leave"), "Goodbye")
	frame.Until(`document.body.innerText.includes('Welcome to the shop')`)
	tab.Screenshot("iframe-in")
}

// queued is how many people the gate counts in line.
func queued(t *testing.T, admin string) int {
	t.Helper()
	var status struct {
		Queued int `json:"estimated_queued_users"`
	}
	address := url.URL{Scheme: "http", Host: admin, Path: "/api/v1/rooms/default/status"}
	text := stagetest.Text(t, stagetest.Visitor(t), http.MethodGet, address.String())
	require.NoError(t, json.Unmarshal([]byte(text), &status))
	return status.Queued
}

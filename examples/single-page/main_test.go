package main

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
)

func TestTheConfigurationIsValid(t *testing.T) {
	program, err := stage.Program(t.Context())
	require.NoError(t, err)
	said, err := exec.CommandContext(t.Context(), program, "validate", "--config", "fairdoor.yaml").CombinedOutput()
	require.NoError(t, err, string(said))
}

func TestThePageWaitsInPlaceAndGoesOn(t *testing.T) {
	at := stagetest.Addresses(t)
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error { return run(ctx, out, at, "fairdoor.yaml") })
	url := "http://" + at.Gate
	first := stagetest.Visitor(t)
	require.Contains(t, stagetest.Text(t, first, http.MethodGet, url+"/api/offers"), "lamp")

	browser, err := browsertest.Start(nil)
	require.NoError(t, err)
	defer browser.Stop()
	tab := browser.Visitor(t)
	tab.Open(url)
	tab.Until(`document.body.innerText.includes('You are number 1 of 1 in line.')`)
	tab.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById('note').value = 'hello', window.marked = true, undefined`))
	tab.RequireAccessible()
	tab.Screenshot("single-page-waiting")

	stagetest.Text(t, first, http.MethodPost, url+"/api/leave")
	tab.Until(`document.body.innerText.includes('You are in.')`)
	assert.Equal(t, "hello", browsertest.Eval[string](tab, `document.getElementById('note').value`))
	assert.True(t, browsertest.Eval[bool](tab, `window.marked === true`), "the page was not loaded again")
	tab.RequireAccessible()
	tab.Screenshot("single-page-in")

	tab.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('li button').click(), undefined`))
	tab.Until(`document.body.innerText.includes('Ordered: lamp, as number 1.')`)

	// Whoever has left, and orders while others have the place, waits with the order in hand.
	tab.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById('leave').click(), undefined`))
	tab.Until(`document.body.innerText.includes('Goodbye')`)
	require.Eventually(t, func() bool {
		return strings.Contains(stagetest.Text(t, first, http.MethodGet, url+"/api/offers"), "lamp")
	}, 30*time.Second, 300*time.Millisecond)
	tab.Do(chromedp.Evaluate[chromedp.Void](`buy('chair'), undefined`))
	tab.Until(`document.body.innerText.includes('in line')`)
	stagetest.Text(t, first, http.MethodPost, url+"/api/leave")
	tab.Until(`document.body.innerText.includes('Ordered: chair, as number 2.')`)
}

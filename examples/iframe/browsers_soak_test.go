//go:build soak

package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest/webdriver"
)

func TestInOtherBrowsersAVisitorWaitsInTheFrameAndGetsIn(t *testing.T) {
	for name, open := range webdriver.Kinds {
		t.Run(name, func(t *testing.T) {
			_, shop, partner := start(t)
			first := stagetest.Visitor(t)
			require.Contains(t, stagetest.Text(t, first, http.MethodGet, shop), "Welcome to the shop")
			b := open(t)
			b.Open(partner)
			b.Frame()
			b.Until(`document.body.innerText.includes('You are in the waiting room')`)
			stagetest.Text(t, first, http.MethodPost, shop+"/leave")
			b.Until(`document.body.innerText.includes('Welcome to the shop')`)
		})
	}
}

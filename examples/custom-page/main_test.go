package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestTheConfigurationIsValid(t *testing.T) {
	program, err := stage.Program(t.Context())
	require.NoError(t, err)
	said, err := exec.CommandContext(t.Context(), program, "validate", "--config", "fairdoor.yaml").CombinedOutput()
	require.NoError(t, err, string(said))
	assert.Contains(t, string(said), "fairdoor.yaml is valid")
}

func TestTheSecondVisitorSeesThePageUntilTheFirstLeaves(t *testing.T) {
	at := stagetest.Addresses(t)
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error { return run(ctx, out, at, "fairdoor.yaml") })
	shop := "http://" + at.Gate
	first, second := stagetest.Visitor(t), stagetest.Visitor(t)
	assert.Contains(t, stagetest.Text(t, first, http.MethodGet, shop), "Welcome to the shop")
	page := stagetest.Text(t, second, http.MethodGet, shop)
	assert.Contains(t, page, "Nordlys Festival")
	assert.Contains(t, page, "Room: tickets")
	assert.Contains(t, stagetest.Text(t, first, http.MethodPost, shop+"/leave"), "Goodbye")
	require.Eventually(t, func() bool {
		return strings.Contains(stagetest.Text(t, second, http.MethodGet, shop), "Welcome to the shop")
	}, 30*time.Second, 500*time.Millisecond, "it is their turn")
}

func TestThePageIsGoodToLookAt(t *testing.T) {
	source, err := os.ReadFile("page.mustache")
	require.NoError(t, err)
	page, err := templates.Parse(source)
	require.NoError(t, err)
	states := map[string]templates.Data{}
	for _, s := range templates.States() {
		states["/"+s.Name] = s.Data
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := states[r.URL.Path]
		rendered, err := page.Render(data)
		assert.NoError(t, err)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(rendered.AppendTo(nil, templates.Visitor{
			LastUpdated: time.Date(2026, 11, 21, 19, 30, 0, 0, time.UTC), RefreshSeconds: 20, Place: data.Place,
		}))
	}))
	defer server.Close()

	browser, err := browsertest.Start(nil)
	require.NoError(t, err)
	defer browser.Stop()
	tab := browser.Visitor(t)
	for _, state := range []string{"fifo", "fifo, hours", "fifo, wait unknown", "fifo, full", "random", "line", "queue all", "reject"} {
		for name, width := range map[string]int64{"desktop": 1280, "phone": 320} {
			tab.Look(browsertest.Light, width, 800)
			tab.Open(server.URL + "/" + url.PathEscape(state))
			assert.Equal(t, width, browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "nothing is cut off")
			tab.RequireAccessible()
			tab.Screenshot("custom-" + strings.NewReplacer(", ", "-", " ", "-").Replace(state) + "-" + name)
		}
	}
}

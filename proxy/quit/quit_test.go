package quit_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

const path = "/.fairdoor/quit?room=shop"

func TestWhoLeavesTheLineGivesUpTheirPlace(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	v, behind := f.Waits(), f.Waits()
	f.Pass(gatetest.Interval)
	v.Get("/")
	behind.Get("/")
	f.Pass(0)
	require.Equal(t, 2, f.Status("shop").Queued)

	page := v.Get("/sale?day=1")
	a := v.SendsForm(page)
	assert.Equal(t, http.StatusOK, a.Status)
	assert.Contains(t, a.Body, "You have left the line")
	assert.Contains(t, a.Body, `<a class="button go" href="/">Go to the line</a>`)
	assert.Empty(t, v.Cookies, "the browser forgets the place")
	f.Pass(0)
	assert.Equal(t, 1, f.Status("shop").Queued, "nobody counts them")

	f.Pass(gatetest.Interval)
	behind.Get("/")
	v.Get("/")
	f.Pass(0)
	assert.Equal(t, 2, f.Status("shop").Queued, "they may come again, as somebody new")
	assert.Equal(t, http.StatusOK, in.PostForm(path, nil).Status)
	assert.True(t, in.Get("/").In(), "who is in stays in")
}

func TestNobodyLeavesByAFormOfAnotherSite(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	v := f.Waits()
	a := v.Send(http.MethodPost, path, nil, gatetest.With("Sec-Fetch-Site", "cross-site"), gatetest.With("Origin", "https://evil.test"))
	assert.Equal(t, http.StatusBadRequest, a.Status)
	assert.NotEmpty(t, v.Cookies)
	assert.Equal(t, http.StatusMethodNotAllowed, v.Get(path).Status)
	assert.Equal(t, http.StatusNotFound, v.PostForm("/.fairdoor/quit?room=nowhere", nil).Status)
}

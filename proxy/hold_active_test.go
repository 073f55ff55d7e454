package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

func TestThoseWhoAreInAreHeldAtTheirNextRequest(t *testing.T) {
	f := gatetest.Start(t)
	v := f.Full()[0]
	require.Equal(t, http.StatusOK, f.Patch(`{"hold_active": "now"}`).Status)
	f.Site.Requests()

	page := v.Get("/checkout?step=2")
	assert.Equal(t, http.StatusOK, page.Status)
	assert.Contains(t, page.Body, "We will be back soon")
	assert.Contains(t, page.Body, "url=/checkout?step=2", "it goes on by itself, without script, too")
	assert.Equal(t, "no-store", page.Header.Get("Cache-Control"))
	assert.NotEmpty(t, page.Header.Get("Retry-After"))
	told := v.Get("/", gatetest.AsJSON)
	assert.Equal(t, true, told.Told("isHeld"))
	assert.Equal(t, false, told.Told("usersAheadKnown"))
	assert.InDelta(t, 20, told.Told("refreshIntervalSeconds"), 4)

	form := v.Send(http.MethodPost, "/buy", strings.NewReader("a=b"), gatetest.AsJSON)
	assert.Equal(t, http.StatusTooManyRequests, form.Status)
	assert.Equal(t, "application/problem+json", form.Header.Get("Content-Type"))
	assert.Equal(t, http.StatusServiceUnavailable, v.Get("/style.css", gatetest.With("Sec-Fetch-Dest", "style")).Status)
	assert.Equal(t, http.StatusServiceUnavailable, v.Get("/next", gatetest.With("Sec-Purpose", "prefetch")).Status)
	assert.Equal(t, http.StatusNoContent, v.Get("/.fairdoor/events").Status)
	assert.Contains(t, v.Get("/.fairdoor/session", gatetest.AsJSON).Body, `"isHeld": true`)
	assert.False(t, f.Visitor().Get("/").In())
	assert.Empty(t, f.Site.Requests(), "the site is left alone")

	f.Pass(time.Hour)
	assert.False(t, v.Get("/").In())
	require.Equal(t, http.StatusOK, f.Patch(`{"hold_active": "off"}`).Status)
	f.Pass(time.Second)
	assert.True(t, v.Get("/").In(), "they have their slot again")
	assert.Equal(t, 1, f.Status("shop").Active)
}

package proxy_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
)

func TestAGateWithoutFeaturesIsAPlainWaitingRoom(t *testing.T) {
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.WithoutFeatures() })
	in := f.Full()
	waits := f.Visitor()
	assert.Equal(t, true, waits.Get("/", gatetest.AsJSON).Told("inWaitingRoom"))
	assert.True(t, in[0].Get("/").In())
	assert.Equal(t, 1, f.Status("shop").Queued)
	for _, path := range []string{"move?room=shop", "pass/shop", "call-back?room=shop", "waitlist/beta", "jwks.json"} {
		assert.Equal(t, http.StatusNotFound, waits.Get("/.fairdoor/"+path).Status, path)
	}
	assert.Equal(t, http.StatusOK, waits.Get("/.fairdoor/session?room=shop").Status)
	for _, path := range []string{"/metrics", "/api/v1/rooms", "/api/v1/waitlists", "/readyz"} {
		assert.Equal(t, http.StatusOK, f.API(http.MethodGet, path, "", nil).Status, path)
	}
}

func TestARoomTellsWhatItHasOfFeaturesByTheKeysOfTheFile(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Commands = append(r.Commands, left.Command)
		r.Options = r.Options.With(callback.RoomOptions{On: true}).With(guests.RoomOptions{Priority: 7}).
			With(challenge.Config{Provider: challenge.Turnstile, SiteKey: "site", Secret: "not to be told"})
	}))
	var told map[string]any
	require.Equal(t, http.StatusOK, f.API(http.MethodGet, "/api/v1/rooms/shop", "", &told).Status)
	assert.Equal(t, "passes", told["admission"])
	assert.Equal(t, true, told["passes"])
	assert.Equal(t, true, told["call_back"])
	assert.EqualValues(t, 7, told["guest_priority"])
	assert.Equal(t, "off", told["bind_ticket"])
	assert.Equal(t, []any{"left"}, told["enabled_origin_commands"])
	assert.Equal(t, map[string]any{
		"provider": "turnstile", "site_key": "site", "on_unreachable": "join", "verify_url": "", "script_url": "", "widget_class": "", "sources": []any{},
	}, told["challenge"], "without the secret")
}

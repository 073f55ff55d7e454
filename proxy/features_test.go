package proxy_test

import (
	"context"
	"html/template"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

func TestAGateWithoutFeaturesIsAPlainWaitingRoom(t *testing.T) {
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.WithFeatures() })
	in := f.Full()
	waits := f.Visitor()
	assert.Equal(t, true, waits.Get("/", gatetest.AsJSON).Told("inWaitingRoom"))
	assert.True(t, in[0].Get("/").In())
	assert.Equal(t, 1, f.Status("shop").Queued)
	for _, path := range []string{"move?room=shop", "pass/shop", "call-back?room=shop", "waitlist/beta", "jwks.json"} {
		assert.Equal(t, http.StatusNotFound, waits.Get("/.fairdoor/"+path).Status, path)
	}
	assert.Equal(t, http.StatusOK, waits.Get("/.fairdoor/session?room=shop").Status)
	for _, path := range []string{"/metrics", "/api/v1/rooms", "/api/v1/openapi.yaml", "/readyz"} {
		assert.Equal(t, http.StatusOK, f.API(http.MethodGet, path, "", nil).Status, path)
	}
	assert.Equal(t, http.StatusNotFound, f.API(http.MethodGet, "/api/v1/waitlists", "", nil).Status)
}

// greeter is a feature that greets visitors at a path of its own in the words of their room, and
// tells how often.
type greeter struct {
	gate    feature.Gate
	greeted metrics.Series
}

// greeting is what a room's configuration says of it.
type greeting struct {
	Words string `yaml:"greeting" usage:"words that visitors are greeted with"`
}

func newGreeter(g feature.Gate) feature.Feature {
	return &greeter{g, g.Metrics().Series("fairdoor_greetings_total", "Visitors that were greeted.", "room")}
}

func (g *greeter) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	return config.OptionsOf[greeting](&s.Config), nil
}

func (g *greeter) Paths() []feature.Path {
	return []feature.Path{{Name: "greeting", Method: http.MethodGet, Serve: func(w http.ResponseWriter, r *http.Request) {
		of := g.gate.Room(r.URL.Query().Get("room"))
		said, _ := feature.PartOf[greeting](of.Setup())
		g.greeted.With(of.Setup().Config.Name).Inc()
		_, _ = io.WriteString(w, said.Words)
	}}}
}

func (g *greeter) Admin(a admin.API) admin.Part {
	return admin.Part{
		Document: `paths:
  /api/v1/rooms/{room}/greeting:
    parameters: [{$ref: '#/components/parameters/Room'}]
    get:
      summary: The words.
      responses:
        '200': {description: The words., content: {application/json: {schema: {type: string}}}}
        default: {$ref: '#/components/responses/Problem'}
`,
		Section: func(context.Context) (template.HTML, error) { return "<h2>Greetings</h2>", nil },
		Resources: []admin.Resource{{Pattern: "GET /api/v1/rooms/{room}/greeting", Answer: a.WithRoom(func(w http.ResponseWriter, _ *http.Request, of admin.Room) {
			said, _ := feature.PartOf[greeting](g.gate.Room(of.Queue().Name()).Setup())
			reply.JSON(w, said.Words)
		})}},
	}
}

func TestAFeatureBringsItsPathsItsMetricsAndWhatOperatorsHaveOfIt(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Options = r.Options.With(greeting{"Hello!"}) }),
		func(_ *proxy.Config, o *proxy.Options) { o.WithFeatures(newGreeter) })
	assert.Equal(t, "Hello!", f.Visitor().Get("/.fairdoor/greeting?room=shop").Body)
	assert.EqualValues(t, 1, f.Families()["fairdoor_greetings_total shop"].GetCounter().GetValue())
	assert.JSONEq(t, `"Hello!"`, f.API(http.MethodGet, "/api/v1/rooms/shop/greeting", "", nil).Body)
	assert.Equal(t, http.StatusNotFound, f.API(http.MethodGet, "/api/v1/rooms/none/greeting", "", nil).Status)
	assert.Contains(t, f.API(http.MethodGet, "/api/v1/openapi.yaml", "", nil).Body, "/api/v1/rooms/{room}/greeting:")
	assert.Contains(t, f.API(http.MethodGet, "/", "", nil).Body, "<h2>Greetings</h2>")
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

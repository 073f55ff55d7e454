package why_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

const path = "/.fairdoor/why?room=shop"

// rules are what the page may say of how people are let in.
var rules = map[string]string{
	"limited":   "The site takes in only as many people as it can serve at a time.",
	"in order":  "You are let in in the order in which you came.",
	"by chance": "Everybody who waits has the same chance at each update.",
	"drawn":     "The order is drawn at the start.",
	"passes":    "People with a pass from the site may be let in before others.",
	"paused":    "Admissions are paused at the moment.",
	"kept":      "You may be away for up to",
	"rejected":  "Please come back later.",
}

func TestThePageHasTheRulesThatAreTrueForTheRoom(t *testing.T) {
	by := func(m queue.Method) func(*proxy.Config, *proxy.Options) {
		return gatetest.Settings(func(s *queue.Settings) { s.Method = m })
	}
	held := gatetest.Settings(func(s *queue.Settings) { s.QueueAll = true })
	signed := gatetest.Room(func(r *proxy.RoomConfig) {
		r.Subject.TokenHeader, r.Subject.Secrets = "X-Token", [][]byte{gatetest.TokenSecret}
	})
	sale := gatetest.Planned(gatetest.SaleAt(gatetest.Opening.Add(time.Minute), 10*time.Minute, true))
	type changes []func(*proxy.Config, *proxy.Options)
	for name, c := range map[string]struct {
		changes changes
		want    string
	}{
		"fifo":                {nil, "limited, in order, kept"},
		"fifo, tokens":        {changes{signed}, "limited, in order, kept"},
		"fifo, passes":        {changes{gatetest.TakingPasses(t)}, "limited, in order, kept, passes"},
		"line":                {changes{by(queue.Line)}, "limited, in order, kept"},
		"line, tokens":        {changes{by(queue.Line), signed}, "limited, in order, kept, passes"},
		"random":              {changes{by(queue.Random)}, "limited, by chance, kept"},
		"shuffled":            {changes{sale}, "limited, drawn, kept"},
		"random, shuffled":    {changes{by(queue.Random), sale}, "limited, by chance, kept"},
		"passthrough, held":   {changes{by(queue.Passthrough), held}, "paused, kept"},
		"reject, held":        {changes{by(queue.Reject), held}, "paused, kept"},
		"reject, which is it": {changes{by(queue.Reject)}, "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, c.changes...)
			a := f.Visitor().Get(path)
			require.Equal(t, http.StatusOK, a.Status)
			for rule, words := range rules {
				said := strings.Contains(a.Body, words)
				assert.Equal(t, strings.Contains(", "+c.want+",", ", "+rule+","), said, rule)
			}
		})
	}
}

func TestThePageIsInTheLanguagesAndTheLookOfTheWaitingPage(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Identity = templates.Identity{SiteName: "Nordlys", Accent: "#5b3fd6"} }))
	f.Full()
	assert.Contains(t, f.Waits().Get("/").Body, `href="`+path+`"`, "the waiting page leads to it")
	codes, err := templates.LanguageCodes()
	require.NoError(t, err)
	for _, code := range codes {
		a := f.Visitor().Get(path, gatetest.With("Accept-Language", code))
		require.Equal(t, http.StatusOK, a.Status)
		assert.Equal(t, code, a.Header.Get("Content-Language"))
		assert.Contains(t, a.Body, `<html lang="`+code+`"`)
		for _, left := range []string{"[[", "{{", "<script", "<h1></h1>"} {
			assert.NotContains(t, a.Body, left, code)
		}
		assert.Less(t, len(a.Body), 8<<10, code)
	}
	a := f.Visitor().Get(path)
	assert.Contains(t, a.Body, "<bdi>Nordlys</bdi>")
	assert.Contains(t, a.Body, "--accent:#5b3fd6")
	assert.Empty(t, a.SetCookies(), "whoever reads it takes no place")
	assert.Equal(t, http.StatusMethodNotAllowed, f.Visitor().PostForm(path, nil).Status)
	assert.Equal(t, http.StatusNotFound, f.Visitor().Get("/.fairdoor/why?room=nowhere").Status)
}

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
	"nobody":    "The site’s staff put nobody ahead of others in the last hour.",
	"ahead":     "People whom the site’s staff put ahead of others in the last hour: 2",
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
		"fifo":                {nil, "limited, in order, nobody, kept"},
		"fifo, tokens":        {changes{signed}, "limited, in order, nobody, kept"},
		"fifo, passes":        {changes{gatetest.TakingPasses(t)}, "limited, in order, nobody, kept, passes"},
		"line":                {changes{by(queue.Line)}, "limited, in order, nobody, kept"},
		"line, tokens":        {changes{by(queue.Line), signed}, "limited, in order, nobody, kept, passes"},
		"random":              {changes{by(queue.Random)}, "limited, by chance, nobody, kept"},
		"shuffled":            {changes{sale}, "limited, drawn, nobody, kept"},
		"random, shuffled":    {changes{by(queue.Random), sale}, "limited, by chance, nobody, kept"},
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

func TestThePageTellsHowManyPeopleOperatorsHavePutAhead(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method = queue.Line }))
	f.Full()
	told := func() string {
		page := f.Visitor().Get(path).Body
		for _, rule := range []string{"nobody", "ahead"} {
			if strings.Contains(page, rules[rule]) {
				return rule
			}
		}
		return page
	}
	asks := func(method, path, body string) {
		t.Helper()
		a := f.API(method, "/api/v1/rooms/shop/visitors/"+path, body, nil)
		require.Less(t, a.Status, 300, a.Body)
	}
	v := f.Waits()
	require.Equal(t, "nobody", told())
	for range 2 { // who is ahead is counted once
		asks(http.MethodPut, "code:7F3K-Q2M9/ahead", "")
	}
	var found struct{ Visitors []struct{ ID string } }
	f.API(http.MethodGet, "/api/v1/visitors?q="+v.Get("/", gatetest.AsJSON).Told("supportCode").(string), "", &found)
	require.Len(t, found.Visitors, 1)
	asks(http.MethodPatch, found.Visitors[0].ID, `{"priority": -1}`)
	asks(http.MethodPatch, found.Visitors[0].ID, `{"priority": 3}`)
	require.Equal(t, "ahead", told())
	f.Pass(50 * time.Minute)
	require.Equal(t, "ahead", told())
	f.Pass(12 * time.Minute)
	f.Pass(time.Second)
	require.Equal(t, "nobody", told())
}

package proxy_test

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`

const stage = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 8"/>`

// identified gives the room an identity.
func identified(t *testing.T) func(*proxy.Config, *proxy.Options) {
	hero, err := templates.NewPicture([]byte(stage))
	require.NoError(t, err)
	logo, err := templates.NewPicture([]byte(drawing))
	require.NoError(t, err)
	return gatetest.Room(func(r *proxy.RoomConfig) {
		r.Logo, r.Hero = logo, hero
		r.Identity = templates.Identity{SiteName: `Ada & <Co>`, HeroAlt: "A stage", Accent: "#0a7d55", HelpURL: "https://help.example/?a&b"}
	})
}

func TestThePageShowsWhoseItIs(t *testing.T) {
	f := gatetest.Start(t, identified(t))
	f.Full()
	a := f.Visitor().Get("/")
	assert.Contains(t, a.Body, "<title>Ada &amp; &lt;Co&gt; · Waiting room</title>")
	assert.Contains(t, a.Body, `<style>:root{--accent:#0a7d55;--on-accent:#fff;--glow:#0a7d55;`)
	assert.Contains(t, a.Body, `href="https://help.example/?a&amp;b"`)
	assert.Contains(t, a.Header.Get("Content-Security-Policy"), "img-src data: 'self'")
	found := regexp.MustCompile(`<img id="logo" src="([^"]+)" alt="Ada &amp; &lt;Co&gt;">`).FindStringSubmatch(a.Body)
	require.Len(t, found, 2)

	logo := f.Visitor().Get(found[1])
	assert.Equal(t, http.StatusOK, logo.Status)
	assert.Equal(t, drawing, logo.Body)
	assert.Equal(t, "image/svg+xml", logo.Header.Get("Content-Type"))
	assert.Contains(t, logo.Header.Get("Content-Security-Policy"), "sandbox")
	assert.Contains(t, logo.Header.Get("Cache-Control"), "immutable")
	assert.Empty(t, logo.SetCookies())
	wide := regexp.MustCompile(`<img id="hero" src="([^"]+)" alt="A stage">`).FindStringSubmatch(a.Body)
	require.Len(t, wide, 2)
	assert.Equal(t, stage, f.Visitor().Get(wide[1]).Body)
	assert.Equal(t, http.StatusNotFound, f.Visitor().Get("/.fairdoor/logo/0123456789abcdef.svg").Status)

	told := f.Visitor().Get("/", gatetest.AsJSON)
	assert.Equal(t, `Ada & <Co>`, told.Told("siteName"))
	assert.Equal(t, "https://help.example/?a&b", told.Told("helpUrl"))
	assert.Empty(t, f.Site.Requests())
}

func TestWhatTheOperatorSaysChangesWhilePeopleWait(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Message = "Back at <noon>." }))
	f.Full()
	v := f.Visitor()
	assert.Contains(t, v.Get("/").Body, `<p id="message" dir="auto">Back at &lt;noon&gt;.</p>`)
	require.Equal(t, http.StatusOK, f.Patch(`{"message": "Sold out."}`).Status)
	f.Pass(time.Second)
	assert.Equal(t, "Sold out.", v.Get("/", gatetest.AsJSON).Told("message"))
	require.Equal(t, http.StatusOK, f.Patch(`{"message": ""}`).Status)
	f.Pass(time.Second)
	assert.Contains(t, v.Get("/").Body, `<p id="message" dir="auto" hidden></p>`)
}

func TestTheIconOfAPageThatWaitsIsTheGates(t *testing.T) {
	f := gatetest.Start(t, identified(t))
	assert.True(t, f.Visitor().Get("/favicon.ico").In(), "while nobody waits it is the site's")
	in := f.Full()[0]
	waiting := f.Visitor()
	waiting.Get("/")
	f.Pass(time.Second)
	f.Site.Requests()
	for _, v := range []*gatetest.Visitor{waiting, f.Visitor()} {
		a := v.Get("/favicon.ico")
		assert.Equal(t, http.StatusOK, a.Status)
		assert.Equal(t, drawing, a.Body)
		assert.Equal(t, "image/svg+xml", a.Header.Get("Content-Type"))
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		assert.Empty(t, a.SetCookies())
	}
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Queued, "it takes no place")
	assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get("/favicon.ico/x", gatetest.With("Sec-Fetch-Dest", "image")).Status)
	assert.Empty(t, f.Site.Requests())
	assert.True(t, in.Get("/favicon.ico").In(), "who is in gets the site's")
}

func TestACrawlerThatAsksForTheRulesGetsThemOrIsToComeBack(t *testing.T) {
	f := gatetest.Start(t)
	assert.True(t, f.Visitor().Get("/robots.txt").In(), "while nobody waits they are the site's")
	in := f.Full()[0]
	f.Pass(time.Second)
	f.Site.Requests()
	for _, accept := range []string{"text/html", "*/*"} {
		a := f.Visitor().Get("/robots.txt", gatetest.With("Accept", accept))
		assert.Equal(t, http.StatusServiceUnavailable, a.Status, "a page would allow everything")
		assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
		assert.NotEmpty(t, a.Header.Get("Retry-After"))
		assert.Empty(t, a.SetCookies())
	}
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Queued, "it takes no place")
	assert.Empty(t, f.Site.Requests())
	assert.True(t, in.Get("/robots.txt").In())
}

func TestVisitorsAreToldHowLongTheyMayBeAwayAndThatTheyWereForTooLong(t *testing.T) {
	for _, c := range []struct {
		method queue.Method
		kept   time.Duration
	}{{queue.FIFO, 30 * time.Minute}, {queue.Random, 30 * time.Minute}, {queue.Line, 77 * time.Second}} {
		t.Run(c.method.String(), func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method, s.SessionDuration = c.method, 24*time.Hour }))
			f.Full()
			v := f.Visitor()
			first := v.Get("/", gatetest.AsJSON)
			assert.EqualValues(t, c.kept.Seconds(), first.Told("placeKeptSeconds"))
			assert.Equal(t, false, first.Told("rejoined"), "they are new")
			f.Pass(45 * time.Second) // the first check-in is due by now, in random too
			page := v.Get("/")
			assert.Contains(t, page.Body, "You may be away for up to "+strconv.Itoa(int(c.kept.Minutes()))+"\u00a0min")
			assert.Contains(t, page.Body, `<p id="rejoined" hidden>`)

			f.Pass(c.kept - time.Second)
			assert.Equal(t, false, v.Get("/", gatetest.AsJSON).Told("rejoined"), "they are back in time")
			f.Pass(c.kept + gatetest.Interval)
			assert.Contains(t, v.Get("/").Body, `<p id="rejoined">You were away for too long`)
			assert.Equal(t, false, v.Get("/", gatetest.AsJSON).Told("rejoined"), "it is told once")
			f.Pass(c.kept + gatetest.Interval)
			assert.Equal(t, true, v.Get("/", gatetest.AsJSON).Told("rejoined"))
		})
	}
}

func TestPagesAreCompressedForThoseWhoReadThem(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	v := f.Visitor()
	for accept, gzip := range map[string]bool{
		"gzip, deflate, br, zstd": true, "br;q=1, gzip;q=0.5": true, "*": true, "GZIP": true, "x-gzip": true,
		"": false, "identity": false, "gzip;q=0": false, "br": false, "gzip;q=0, *": false, "gzip;q=x": false, "*;q=0": false,
	} {
		set := gatetest.With("Accept-Encoding", accept)
		a := v.Get("/", set)
		assert.Equal(t, gzip, a.Header.Get("Content-Encoding") == "gzip", accept)
		assert.Equal(t, !gzip, len(a.Body) > 10_000, accept)
		assert.Contains(t, a.Header.Get("Vary"), "Accept-Encoding")
		assert.Empty(t, v.Get("/", set, gatetest.AsJSON).Header.Get("Content-Encoding"), "JSON is small")
		head := v.Send(http.MethodHead, "/", nil, set)
		assert.Equal(t, a.Header.Get("Content-Encoding"), head.Header.Get("Content-Encoding"))
	}
	assert.Contains(t, v.Get("/").Body, "</html>", "net/http unpacks it")
}

func TestAVisitorWhoWaitsHasOneSupportCodeEverywhere(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	v, other := f.Waits(), f.Waits()
	code, _ := v.Get("/", gatetest.AsJSON).Told("supportCode").(string)
	assert.Regexp(t, `^[0-9A-Z]{4}-[0-9A-Z]{4}$`, code)
	assert.Contains(t, v.Get("/").Body, `Support code <code dir="ltr">`+code+`</code>`)
	f.Pass(gatetest.Interval)
	assert.Equal(t, code, v.Get("/", gatetest.AsJSON).Told("supportCode"), "it stays")
	assert.NotEqual(t, code, other.Get("/", gatetest.AsJSON).Told("supportCode"))
	assert.NotContains(t, in.Get("/").Body, "Support code")
}

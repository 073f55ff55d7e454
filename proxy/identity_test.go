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
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`

// identified gives the room an identity.
func identified(t *testing.T) func(*proxy.Config, *proxy.Options) {
	logo, err := templates.NewLogo([]byte(drawing))
	require.NoError(t, err)
	return room(func(r *proxy.RoomConfig) {
		r.Logo = logo
		r.Identity = templates.Identity{SiteName: `Ada & <Co>`, Accent: "#0a7d55", HelpURL: "https://help.example/?a&b"}
	})
}

func TestThePageShowsWhoseItIs(t *testing.T) {
	f := start(t, identified(t))
	f.full()
	a := f.visitor().get("/")
	assert.Contains(t, a.body, "<title>Ada &amp; &lt;Co&gt; · Waiting room</title>")
	assert.Contains(t, a.body, `<style>:root{--accent:#0a7d55;--on-accent:#fff;--glow:#0a7d55}</style>`)
	assert.Contains(t, a.body, `href="https://help.example/?a&amp;b"`)
	assert.Contains(t, a.header.Get("Content-Security-Policy"), "img-src data: 'self'")
	found := regexp.MustCompile(`<img id="logo" src="([^"]+)" alt="Ada &amp; &lt;Co&gt;">`).FindStringSubmatch(a.body)
	require.Len(t, found, 2)

	logo := f.visitor().get(found[1])
	assert.Equal(t, http.StatusOK, logo.status)
	assert.Equal(t, drawing, logo.body)
	assert.Equal(t, "image/svg+xml", logo.header.Get("Content-Type"))
	assert.Contains(t, logo.header.Get("Content-Security-Policy"), "sandbox")
	assert.Contains(t, logo.header.Get("Cache-Control"), "immutable")
	assert.Empty(t, logo.setCookies())
	assert.Equal(t, http.StatusNotFound, f.visitor().get("/.fairdoor/logo/0123456789abcdef.svg").status)

	told := f.visitor().get("/", asJSON)
	assert.Equal(t, `Ada & <Co>`, told.told("siteName"))
	assert.Equal(t, "https://help.example/?a&b", told.told("helpUrl"))
	assert.Empty(t, f.site.requests())
}

func TestWhatTheOperatorSaysChangesWhilePeopleWait(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Message = "Back at <noon>." }))
	f.full()
	v := f.visitor()
	assert.Contains(t, v.get("/").body, `<p id="message" dir="auto">Back at &lt;noon&gt;.</p>`)
	require.Equal(t, http.StatusOK, f.patch(`{"message": "Sold out."}`).status)
	f.pass(time.Second)
	assert.Equal(t, "Sold out.", v.get("/", asJSON).told("message"))
	require.Equal(t, http.StatusOK, f.patch(`{"message": ""}`).status)
	f.pass(time.Second)
	assert.Contains(t, v.get("/").body, `<p id="message" dir="auto" hidden></p>`)
}

func TestTheIconOfAPageThatWaitsIsTheGates(t *testing.T) {
	f := start(t, identified(t))
	assert.True(t, f.visitor().get("/favicon.ico").in(), "while nobody waits it is the site's")
	in := f.full()[0]
	waiting := f.visitor()
	waiting.get("/")
	f.pass(time.Second)
	f.site.requests()
	for _, v := range []*visitor{waiting, f.visitor()} {
		a := v.get("/favicon.ico")
		assert.Equal(t, http.StatusOK, a.status)
		assert.Equal(t, drawing, a.body)
		assert.Equal(t, "image/svg+xml", a.header.Get("Content-Type"))
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
		assert.Empty(t, a.setCookies())
	}
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued, "it takes no place")
	assert.Equal(t, http.StatusServiceUnavailable, f.visitor().get("/favicon.ico/x", with("Sec-Fetch-Dest", "image")).status)
	assert.Empty(t, f.site.requests())
	assert.True(t, in.get("/favicon.ico").in(), "who is in gets the site's")
}

func TestVisitorsAreToldHowLongTheyMayBeAwayAndThatTheyWereForTooLong(t *testing.T) {
	for _, c := range []struct {
		method queue.Method
		kept   time.Duration
	}{{queue.FIFO, 30 * time.Minute}, {queue.Random, 30 * time.Minute}, {queue.Line, 77 * time.Second}} {
		t.Run(c.method.String(), func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) { s.Method, s.SessionDuration = c.method, 24*time.Hour }))
			f.full()
			v := f.visitor()
			first := v.get("/", asJSON)
			assert.EqualValues(t, c.kept.Seconds(), first.told("placeKeptSeconds"))
			assert.Equal(t, false, first.told("rejoined"), "they are new")
			f.pass(45 * time.Second) // the first check-in is due by now, in random too
			page := v.get("/")
			assert.Contains(t, page.body, "You may be away for up to "+strconv.Itoa(int(c.kept.Minutes()))+"\u00a0min")
			assert.Contains(t, page.body, `<p id="rejoined" hidden>`)

			f.pass(c.kept - time.Second)
			assert.Equal(t, false, v.get("/", asJSON).told("rejoined"), "they are back in time")
			f.pass(c.kept + interval)
			assert.Contains(t, v.get("/").body, `<p id="rejoined">You were away for too long`)
			assert.Equal(t, false, v.get("/", asJSON).told("rejoined"), "it is told once")
			f.pass(c.kept + interval)
			assert.Equal(t, true, v.get("/", asJSON).told("rejoined"))
		})
	}
}

func TestPagesAreCompressedForThoseWhoReadThem(t *testing.T) {
	f := start(t)
	f.full()
	v := f.visitor()
	for accept, gzip := range map[string]bool{
		"gzip, deflate, br, zstd": true, "br;q=1, gzip;q=0.5": true, "*": true, "GZIP": true, "x-gzip": true,
		"": false, "identity": false, "gzip;q=0": false, "br": false, "gzip;q=0, *": false, "gzip;q=x": false, "*;q=0": false,
	} {
		set := with("Accept-Encoding", accept)
		a := v.get("/", set)
		assert.Equal(t, gzip, a.header.Get("Content-Encoding") == "gzip", accept)
		assert.Equal(t, !gzip, len(a.body) > 10_000, accept)
		assert.Contains(t, a.header.Get("Vary"), "Accept-Encoding")
		assert.Empty(t, v.get("/", set, asJSON).header.Get("Content-Encoding"), "JSON is small")
		head := v.send(http.MethodHead, "/", nil, set)
		assert.Equal(t, a.header.Get("Content-Encoding"), head.header.Get("Content-Encoding"))
	}
	assert.Contains(t, v.get("/").body, "</html>", "net/http unpacks it")
}

package proxy_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
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

var link = regexp.MustCompile(`<a id="line"[^>]* href="([^"]*)"`)

// form is a browser's request that sends one.
func form(v *gatetest.Visitor, target string, changes ...func(*http.Request)) gatetest.Answer {
	return v.Send(http.MethodPost, target, strings.NewReader("name=Ada"), append(changes, gatetest.With("Content-Type", "application/x-www-form-urlencoded"))...)
}

func TestAFormOfSomebodyWhoHasToWaitIsAnsweredWithAPage(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	v := f.Visitor()
	a := form(v, "/order?x=1&y=2", gatetest.With("Accept-Language", "de"))
	assert.Equal(t, http.StatusTooManyRequests, a.Status)
	assert.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
	assert.Equal(t, "de-DE", a.Header.Get("Content-Language"))
	assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assert.NotContains(t, a.Header, "Refresh", "what was entered is one step back")
	assert.NotContains(t, a.Body, "http-equiv")
	assert.NotContains(t, a.Body, "<script")
	assert.Contains(t, a.Body, "Das wurde nicht gesendet")
	found := link.FindStringSubmatch(a.Body)
	require.Len(t, found, 2)
	assert.Equal(t, "/order?x=1&y=2", html.UnescapeString(found[1]))

	require.NotEmpty(t, v.Cookies, "they have a place")
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Queued)
	before := v.Get("/order", gatetest.AsJSON)
	assert.Equal(t, true, before.Told("inWaitingRoom"))
	form(v, "/order")
	assert.Equal(t, before.Told("lastUpdated"), v.Get("/order", gatetest.AsJSON).Told("lastUpdated"), "the place is kept")
	assert.Equal(t, 1, f.Status("shop").Queued)
	assert.Empty(t, f.Site.Requests())
}

func TestTheLinkLeadsToWhereOneCanWait(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	host := strings.TrimPrefix(f.Visitor().Base, "http://")
	for _, c := range []struct{ method, referer, want string }{
		{http.MethodPost, "", "/order"},
		{http.MethodPost, "http://" + host + "/checkout?step=2", "/checkout?step=2"},
		{http.MethodPost, "http://elsewhere.test/checkout", "/order"},
		{http.MethodPost, "http://" + host + "//elsewhere.test/", "/.//elsewhere.test/"},
		{http.MethodPost, "::", "/order"},
		{http.MethodDelete, "", "/"},
	} {
		a := f.Visitor().Send(c.method, "/order", nil, gatetest.With("Referer", c.referer))
		found := link.FindStringSubmatch(a.Body)
		require.Len(t, found, 2, c)
		assert.Equal(t, c.want, html.UnescapeString(found[1]), c)
	}
}

func TestAFormGoesToTheSiteOnceItIsItsSendersTurn(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	v := f.Visitor()
	form(v, "/order")
	f.Pass(2 * gatetest.Interval)
	in.Send(http.MethodPost, "/logout", nil)
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	f.Patch(`{"total_active_users": 9}`)
	f.Pass(2 * gatetest.Interval)
	assert.Equal(t, "name=Ada", form(v, "/order").Body)
}

func TestAPageOfTheRoomsOwnMayAnswerAForm(t *testing.T) {
	for source, want := range map[string]string{
		"{{#notSent}}not sent, go to {{address}}{{/notSent}}{{^notSent}}wait{{/notSent}}{{{client}}}": "not sent, go to /order",
		"wait": "This was not sent",
	} {
		page, err := templates.Parse([]byte(source))
		require.NoError(t, err)
		f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Page = page }))
		f.Full()
		a := form(f.Visitor(), "/order")
		assert.Contains(t, a.Body, want)
		assert.NotContains(t, a.Body, "<script")
		assert.NotContains(t, a.Header, "Refresh")
	}
}

func TestAnAppIsToldThatItsRequestWasNotPassedOn(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Bucket = time.Second }))
	f.Full()
	v := f.Visitor()
	before := v.Get("/", gatetest.AsJSON)
	f.Pass(2 * time.Second)
	for who, v := range map[string]*gatetest.Visitor{"someone who waits": v, "someone new": f.Visitor()} {
		a := v.Send(http.MethodPost, "/order", strings.NewReader("{}"), gatetest.AsJSON)
		assert.Equal(t, http.StatusTooManyRequests, a.Status, who)
		assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"), who)
		var problem struct {
			Type, Title, Detail string
			Status              int
			Room                map[string]any `json:"cfWaitingRoom"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.Body), &problem), who)
		assert.Regexp(t, `^https://.*#requests-that-cannot-wait$`, problem.Type)
		assert.Equal(t, http.StatusTooManyRequests, problem.Status)
		assert.NotEmpty(t, problem.Title)
		assert.NotEmpty(t, problem.Detail)
		assert.Equal(t, true, problem.Room["inWaitingRoom"], who)
		assert.Equal(t, true, problem.Room["usersAheadKnown"], who)
		if who == "someone who waits" {
			assert.Equal(t, before.Told("lastUpdated"), problem.Room["lastUpdated"])
			assert.Equal(t, before.Told("bucketId"), problem.Room["bucketId"])
		}
	}
	assert.Len(t, v.Cookies, 1)
}

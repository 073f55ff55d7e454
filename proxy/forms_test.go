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
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

var link = regexp.MustCompile(`<a id="line"[^>]* href="([^"]*)"`)

// form is a browser's request that sends one.
func form(v *visitor, target string, changes ...func(*http.Request)) answer {
	return v.send(http.MethodPost, target, strings.NewReader("name=Ada"), append(changes, with("Content-Type", "application/x-www-form-urlencoded"))...)
}

func TestAFormOfSomebodyWhoHasToWaitIsAnsweredWithAPage(t *testing.T) {
	f := start(t)
	f.full()
	v := f.visitor()
	a := form(v, "/order?x=1&y=2", with("Accept-Language", "de"))
	assert.Equal(t, http.StatusTooManyRequests, a.status)
	assert.Equal(t, "text/html; charset=utf-8", a.header.Get("Content-Type"))
	assert.Equal(t, "de-DE", a.header.Get("Content-Language"))
	assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
	assert.NotEmpty(t, a.header.Get("Retry-After"))
	assert.NotContains(t, a.header, "Refresh", "what was entered is one step back")
	assert.NotContains(t, a.body, "http-equiv")
	assert.NotContains(t, a.body, "<script")
	assert.Contains(t, a.body, "Das wurde nicht gesendet")
	found := link.FindStringSubmatch(a.body)
	require.Len(t, found, 2)
	assert.Equal(t, "/order?x=1&y=2", html.UnescapeString(found[1]))

	require.NotEmpty(t, v.cookies, "they have a place")
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued)
	before := v.get("/order", asJSON)
	assert.Equal(t, true, before.told("inWaitingRoom"))
	form(v, "/order")
	assert.Equal(t, before.told("lastUpdated"), v.get("/order", asJSON).told("lastUpdated"), "the place is kept")
	assert.Equal(t, 1, f.status("shop").Queued)
	assert.Empty(t, f.site.requests())
}

func TestTheLinkLeadsToWhereOneCanWait(t *testing.T) {
	f := start(t)
	f.full()
	host := strings.TrimPrefix(f.visitor().base, "http://")
	for _, c := range []struct{ method, referer, want string }{
		{http.MethodPost, "", "/order"},
		{http.MethodPost, "http://" + host + "/checkout?step=2", "/checkout?step=2"},
		{http.MethodPost, "http://elsewhere.test/checkout", "/order"},
		{http.MethodPost, "http://" + host + "//elsewhere.test/", "/.//elsewhere.test/"},
		{http.MethodPost, "::", "/order"},
		{http.MethodDelete, "", "/"},
	} {
		a := f.visitor().send(c.method, "/order", nil, with("Referer", c.referer))
		found := link.FindStringSubmatch(a.body)
		require.Len(t, found, 2, c)
		assert.Equal(t, c.want, html.UnescapeString(found[1]), c)
	}
}

func TestAFormGoesToTheSiteOnceItIsItsSendersTurn(t *testing.T) {
	f := start(t)
	in := f.full()[0]
	v := f.visitor()
	form(v, "/order")
	f.pass(2 * interval)
	in.send(http.MethodPost, "/logout", nil)
	f.site.will(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	f.patch(`{"total_active_users": 9}`)
	f.pass(2 * interval)
	assert.Equal(t, "name=Ada", form(v, "/order").body)
}

func TestAPageOfTheRoomsOwnMayAnswerAForm(t *testing.T) {
	for source, want := range map[string]string{
		"{{#notSent}}not sent, go to {{address}}{{/notSent}}{{^notSent}}wait{{/notSent}}{{{client}}}": "not sent, go to /order",
		"wait": "This was not sent",
	} {
		page, err := templates.Parse([]byte(source))
		require.NoError(t, err)
		f := start(t, room(func(r *proxy.RoomConfig) { r.Page = page }))
		f.full()
		a := form(f.visitor(), "/order")
		assert.Contains(t, a.body, want)
		assert.NotContains(t, a.body, "<script")
		assert.NotContains(t, a.header, "Refresh")
	}
}

func TestAnAppIsToldThatItsRequestWasNotPassedOn(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Bucket = time.Second }))
	f.full()
	v := f.visitor()
	before := v.get("/", asJSON)
	f.pass(2 * time.Second)
	for who, v := range map[string]*visitor{"someone who waits": v, "someone new": f.visitor()} {
		a := v.send(http.MethodPost, "/order", strings.NewReader("{}"), asJSON)
		assert.Equal(t, http.StatusTooManyRequests, a.status, who)
		assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"), who)
		var problem struct {
			Type, Title, Detail string
			Status              int
			Room                map[string]any `json:"cfWaitingRoom"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &problem), who)
		assert.Regexp(t, `^https://.*#requests-that-cannot-wait$`, problem.Type)
		assert.Equal(t, http.StatusTooManyRequests, problem.Status)
		assert.NotEmpty(t, problem.Title)
		assert.NotEmpty(t, problem.Detail)
		assert.Equal(t, true, problem.Room["inWaitingRoom"], who)
		assert.Equal(t, true, problem.Room["usersAheadKnown"], who)
		if who == "someone who waits" {
			assert.Equal(t, before.told("lastUpdated"), problem.Room["lastUpdated"])
			assert.Equal(t, before.told("bucketId"), problem.Room["bucketId"])
		}
	}
	assert.Len(t, v.cookies, 1)
}

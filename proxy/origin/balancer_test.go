package origin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// naming is a site that answers with its name and the Host that it was asked for.
func naming(t *testing.T, name string) *httptest.Server {
	t.Helper()
	return site(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, name+" "+r.Host+" "+r.Header.Get("X-Forwarded-Host"))
	})
}

// fetch asks a handler for a page of shop.test, and returns the status and the body.
func fetch(h http.Handler) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://shop.test/", nil))
	return w.Code, w.Body.String()
}

func TestEachOriginHasItsTurn(t *testing.T) {
	var origins []*origin.Origin
	for _, name := range []string{"a", "b", "c"} {
		origins = append(origins, newOrigin(t, naming(t, name).URL))
	}
	b := origin.NewBalancer("", origins...)
	answers := map[string]int{}
	for range 30 {
		_, body := fetch(b)
		answers[body]++
	}
	assert.Equal(t, map[string]int{"a shop.test shop.test": 10, "b shop.test shop.test": 10, "c shop.test shop.test": 10}, answers)
}

func TestAnOriginThatFailsGetsNoRequestsUntilItAnswersAgain(t *testing.T) {
	const tick = 10 * time.Millisecond
	quick := func(c *origin.Config) { c.ProbeInterval, c.DialTimeout = tick, time.Second }
	a, gone := naming(t, "a"), newRecorder(t)
	gone.reply("", true) // it breaks off, whatever it is asked
	of := []*origin.Origin{newOrigin(t, a.URL, quick), newOrigin(t, gone.url(), quick)}
	b := origin.NewBalancer("", of...)
	require.Eventually(t, func() bool {
		fetch(b)
		return of[1].Failing()
	}, patience, tick)
	assert.False(t, b.Failing(), "one of them answers")
	for range 10 {
		status, body := fetch(b)
		assert.Equal(t, http.StatusOK, status)
		assert.True(t, strings.HasPrefix(body, "a "), body)
	}
	assert.True(t, origin.NewBalancer("", of[1]).Failing(), "who has it alone has none that answers")

	gone.reply("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nback", false)
	require.Eventually(t, func() bool {
		_, body := fetch(b)
		return body == "back"
	}, patience, tick)
}

func TestOriginsGetTheHostThatIsConfigured(t *testing.T) {
	s := naming(t, "a")
	own := strings.TrimPrefix(s.URL, "http://")
	for host, want := range map[origin.HostHeader]string{"": "shop.test", origin.OwnHost: own, "inside.test": "inside.test"} {
		_, body := fetch(origin.NewBalancer(host, newOrigin(t, s.URL)))
		assert.Equal(t, "a "+want+" shop.test", body, "the visitor's is forwarded besides")
	}
}

package proxy_test

import (
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
)

func TestNothingThatAStrangerSendsComesBack(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	down := gatetest.Start(t)
	down.Site.Close()
	hosted := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Routes[0].Host = "shop.test" })
	for answers, v := range map[string]*gatetest.Visitor{"the waiting page": f.Visitor(), "a failing origin": down.Visitor(), "a foreign host": hosted.Visitor()} {
		for _, target := range []string{
			"/?next=//mark.test", "//mark.test", "//mark.test/..", `/\mark.test`, "/https:mark.test", "/%0d%0aLocation:%20//mark.test",
			"/%22%3E%3Cscript%3Emark%3C/script%3E", "/{{mark}}", "/.fairdoor/mark?room=mark",
		} {
			for _, accept := range []string{"text/html", "application/json"} {
				a := v.Get("", gatetest.With("Accept", accept), gatetest.With("User-Agent", "mark"), gatetest.With("Referer", "http://mark.test/"),
					gatetest.With("Accept-Language", "mark"), gatetest.With("X-Forwarded-Host", "mark.test"), gatetest.With("X-Forwarded-Proto", "mark"),
					func(r *http.Request) { r.URL.Opaque, r.Host = target, "mark.test" })
				require.False(t, a.In())
				assert.NotContains(t, leadsBack.ReplaceAllString(a.Body, ""), "mark", "%s, asked for %s", answers, target)
				assert.NotContains(t, a.Header, "Location", "%s, asked for %s", answers, target)
				for name, values := range a.Header {
					assert.NotContains(t, leadsBack.ReplaceAllString(strings.Join(values, " "), ""), "mark", "%s, asked for %s: %s", answers, target, name)
				}
			}
		}
	}
}

// leadsBack is the address of the page in what has it loaded again. It is one of this host: after
// one slash comes neither a slash nor what browsers read as one.
var leadsBack = regexp.MustCompile(`; url=/([^/\\"\x00-\x20][^"\x00-\x20]*)?`)

// The encoding of a ticket has bits that say nothing: several strings are one ticket.
func TestOneTicketSpelledInSeveralWaysIsOneSlot(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }))
	v := f.Visitor()
	require.True(t, v.Get("/").In())
	ticket := v.Cookies["fairdoor_shop"]
	bare := strings.TrimRight(ticket, "=")
	require.NotEqual(t, ticket, bare, "its last character has bits to spare")
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, bare[len(bare)-1])
	spellings := 0
	for _, other := range []int{last ^ 1, last ^ 2, last ^ 3} {
		spelled := bare[:len(bare)-1] + alphabet[other:other+1] + ticket[len(bare):]
		a := f.Visitor().Get("/", gatetest.With("Cookie", "fairdoor_shop="+spelled))
		if a.In() && len(a.SetCookies()) == 0 {
			spellings++
		}
	}
	assert.NotZero(t, spellings, "of a ticket that opens")
	f.Pass(2 * time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
}

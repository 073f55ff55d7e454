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
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestNothingThatAStrangerSendsComesBack(t *testing.T) {
	f := start(t)
	f.full()
	down := start(t)
	down.site.Close()
	hosted := start(t, func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Routes[0].Host = "shop.test" })
	for answers, v := range map[string]*visitor{"the waiting page": f.visitor(), "a failing origin": down.visitor(), "a foreign host": hosted.visitor()} {
		for _, target := range []string{
			"/?next=//mark.test", "//mark.test", "//mark.test/..", `/\mark.test`, "/https:mark.test", "/%0d%0aLocation:%20//mark.test",
			"/%22%3E%3Cscript%3Emark%3C/script%3E", "/{{mark}}", "/.fairdoor/mark?room=mark",
		} {
			for _, accept := range []string{"text/html", "application/json"} {
				a := v.get("", with("Accept", accept), with("User-Agent", "mark"), with("Referer", "http://mark.test/"),
					with("Accept-Language", "mark"), with("X-Forwarded-Host", "mark.test"), with("X-Forwarded-Proto", "mark"),
					func(r *http.Request) { r.URL.Opaque, r.Host = target, "mark.test" })
				require.False(t, a.in())
				assert.NotContains(t, leadsBack.ReplaceAllString(a.body, ""), "mark", "%s, asked for %s", answers, target)
				assert.NotContains(t, a.header, "Location", "%s, asked for %s", answers, target)
				for name, values := range a.header {
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
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }))
	v := f.visitor()
	require.True(t, v.get("/").in())
	ticket := v.cookies["fairdoor_shop"]
	bare := strings.TrimRight(ticket, "=")
	require.NotEqual(t, ticket, bare, "its last character has bits to spare")
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, bare[len(bare)-1])
	spellings := 0
	for _, other := range []int{last ^ 1, last ^ 2, last ^ 3} {
		spelled := bare[:len(bare)-1] + alphabet[other:other+1] + ticket[len(bare):]
		a := f.visitor().get("/", with("Cookie", "fairdoor_shop="+spelled))
		if a.in() && len(a.setCookies()) == 0 {
			spellings++
		}
	}
	assert.NotZero(t, spellings, "of a ticket that opens")
	f.pass(2 * time.Second)
	assert.Equal(t, 1, f.status("shop").Active)
}

package proxy_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

var overHTTPS = with("X-Forwarded-Proto", "https")

func TestCookieAttributes(t *testing.T) {
	const name, age = "fairdoor_shop", "; Path=/; Max-Age=86400"
	for sentence, c := range map[string]struct {
		change func(*proxy.RoomConfig)
		https  bool
		head   string
		tail   string
	}{
		"over http the cookie is Lax": {nil, false, name, age + "; HttpOnly; SameSite=Lax"},
		"over https it works in frames of other sites": {nil, true, "__Host-" + name,
			age + "; HttpOnly; Secure; SameSite=None; Partitioned"},
		"strict stays strict": {func(r *proxy.RoomConfig) { r.CookieAttributes.SameSite = cookie.SameSiteStrict }, true,
			"__Host-" + name, age + "; HttpOnly; Secure; SameSite=Strict"},
		"a domain takes the prefix away": {func(r *proxy.RoomConfig) { r.CookieAttributes.Domain = "shop.test" }, true,
			name, age + "; HttpOnly; Secure; SameSite=None; Partitioned; Domain=shop.test"},
		"secure never is not secure over https": {func(r *proxy.RoomConfig) { r.CookieAttributes.Secure = cookie.SecureNever }, true,
			name, age + "; HttpOnly; SameSite=Lax"},
		"secure always is secure over http": {func(r *proxy.RoomConfig) { r.CookieAttributes.Secure = cookie.SecureAlways }, false,
			"__Host-" + name, age + "; HttpOnly; Secure; SameSite=Lax"},
		"a suffix names the cookie": {func(r *proxy.RoomConfig) { r.CookieSuffix = "x-1" }, false,
			"fairdoor_x-1", age + "; HttpOnly; SameSite=Lax"},
	} {
		t.Run(sentence, func(t *testing.T) {
			f := start(t, trustingLoopback, func(cfg *proxy.Config, _ *proxy.Options) {
				if c.change != nil {
					c.change(&cfg.Rooms[0])
				}
			})
			scheme := with("X-Forwarded-Proto", "http")
			if c.https {
				scheme = overHTTPS
			}
			for who, a := range map[string]answer{"accepted": f.visitor().get("/", scheme), "waiting": f.visitor().get("/", scheme)} {
				require.Len(t, a.header["Set-Cookie"], 1, who)
				got := a.header["Set-Cookie"][0]
				head, rest, _ := strings.Cut(got, "=")
				value, tail, _ := strings.Cut(rest, ";")
				assert.Equal(t, c.head, head, who)
				assert.Equal(t, c.tail, ";"+tail, who)
				assert.Less(t, len(value), 256, who)
			}
		})
	}
}

func TestSchemeIsBelievedFromTrustedProxiesOnly(t *testing.T) {
	f := start(t)
	assert.Contains(t, f.visitor().get("/", overHTTPS).setCookies(), "fairdoor_shop", "this one might be anybody")

	secure := httptest.NewUnstartedServer(f.Gate)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	v := f.visitor()
	v.base, v.client = secure.URL, secure.Client()
	v.client.Transport.(*http.Transport).TLSClientConfig.CipherSuites = []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	assert.Contains(t, v.get("/").setCookies(), "__Host-fairdoor_shop", "the connection says so itself")
}

func TestTicketIsIssuedAnewUnderTheNameOfTheOtherScheme(t *testing.T) {
	f := start(t, trustingLoopback)
	v := f.visitor()
	require.Contains(t, v.get("/").setCookies(), "fairdoor_shop")
	a := v.get("/", overHTTPS)
	assert.True(t, a.in(), "the place is the same")
	assert.Contains(t, a.setCookies(), "__Host-fairdoor_shop")
	assert.Empty(t, v.get("/", overHTTPS).setCookies(), "once")

	waiting := f.visitor()
	before := waiting.get("/", asJSON)
	after := waiting.get("/", asJSON, overHTTPS)
	assert.Contains(t, after.setCookies(), "__Host-fairdoor_shop")
	assert.Equal(t, before.told("lastUpdated"), after.told("lastUpdated"))
}

func TestKeyRotationKeepsEveryonesPlace(t *testing.T) {
	f := start(t)
	in := f.full()[0]
	waiting := f.visitor()
	before := waiting.get("/", asJSON)
	old := f.config.Keys[0]

	f.config.Keys = []cookie.Key{newKey(t), old}
	require.NoError(t, f.Configure(t.Context(), f.config))
	a := in.get("/")
	assert.True(t, a.in())
	assert.NotEmpty(t, a.setCookies(), "issued anew with the new key")
	assert.Empty(t, in.get("/").setCookies(), "once")
	after := waiting.get("/", asJSON)
	assert.NotEmpty(t, after.setCookies())
	assert.Equal(t, before.told("lastUpdated"), after.told("lastUpdated"))
	assert.Empty(t, waiting.get("/").setCookies())

	f.config.Keys = f.config.Keys[:1]
	require.NoError(t, f.Configure(t.Context(), f.config))
	assert.True(t, in.get("/").in(), "the old key is needed no more")
	assert.Equal(t, before.told("lastUpdated"), waiting.get("/", asJSON).told("lastUpdated"))
}

func TestTicketsOfSeveralRoomsLiveSideBySide(t *testing.T) {
	f := start(t, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes = "tickets", nil
		other.Routes = append(other.Routes, c.Rooms[0].Routes...)
		other.Routes[0].Path = "/tickets"
		c.Rooms = append(c.Rooms, other)
	})
	v := f.visitor()
	assert.True(t, v.get("/").in())
	assert.True(t, v.get("/tickets/1").in())
	assert.Len(t, v.cookies, 2)
	assert.Empty(t, v.get("/").setCookies())
	assert.Empty(t, v.get("/tickets").setCookies())

	thief := f.visitor()
	f.pass(2 * time.Second)
	thief.cookies["fairdoor_tickets"] = v.cookies["fairdoor_shop"]
	f.status("tickets")
	assert.False(t, thief.get("/tickets").in(), "a ticket of one room is none of another")
}

func TestFirstTicketThatOpensCounts(t *testing.T) {
	f := start(t)
	in := f.full()[0]
	ticket := in.cookies["fairdoor_shop"]
	for sentence, header := range map[string]string{
		"junk before it":           "fairdoor_shop=evil; fairdoor_shop=" + ticket,
		"junk of the other name":   "__Host-fairdoor_shop=evil; fairdoor_shop=" + ticket,
		"junk after it":            "fairdoor_shop=" + ticket + "; fairdoor_shop=evil",
		"between quotes":           `fairdoor_shop="` + ticket + `"`,
		"among those of others":    "a=b; fairdoor_shop_x=1; xfairdoor_shop=2; fairdoor_shop=" + ticket + "; c",
		"three pieces of junk":     strings.Repeat("fairdoor_shop=evil; ", 3) + "fairdoor_shop=" + ticket,
		"a header full of junk":    strings.Repeat("fairdoor_shop="+ticket[:len(ticket)-8]+"AAAAAAAA; ", 90) + "fairdoor_shop=" + ticket,
		"an empty one before it":   "fairdoor_shop=; fairdoor_shop=" + ticket,
		"after cookies of no name": "=; ;; fairdoor_shop=" + ticket,
	} {
		assert.True(t, f.visitor().get("/", with("Cookie", header)).in(), sentence)
	}
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Active)
	assert.Zero(t, f.status("shop").Queued)
}

func TestCookiesThatCannotBeReadAreToldAndTakeNoPlace(t *testing.T) {
	f := start(t)
	in := f.full()[0]
	ticket := "fairdoor_shop=" + in.cookies["fairdoor_shop"]
	for sentence, header := range map[string]string{
		"too many":  strings.Repeat("a;", 3000) + ticket,
		"too large": "a=" + strings.Repeat("x", 16<<10) + "; " + ticket,
	} {
		a := f.visitor().get("/", with("Cookie", header))
		assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, a.status, sentence)
		assert.Contains(t, a.body, "<html", sentence)
		assert.Empty(t, a.header["Set-Cookie"], sentence)
		a = f.visitor().get("/", with("Cookie", header), asJSON)
		assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"), sentence)
	}
	f.pass(time.Second)
	assert.Zero(t, f.status("shop").Queued)
	assert.Empty(t, f.site.requests())
}

func TestTicketsThatAreNotOursAreThoseOfNewVisitors(t *testing.T) {
	f := start(t)
	ticket := f.full()[0].cookies["fairdoor_shop"]
	stranger := start(t) // with a key of its own
	foreign := stranger.visitor()
	foreign.get("/")
	tickets := []string{"", "x", foreign.cookies["fairdoor_shop"], ticket[:len(ticket)-4], strings.Repeat("A", 600)}
	for i := range len(strings.TrimRight(ticket, "=")) - 1 { // the last character has bits that say nothing
		forged := []byte(ticket)
		forged[i] ^= 1
		tickets = append(tickets, string(forged))
	}
	for _, forged := range tickets {
		a := f.visitor().get("/", with("Cookie", "fairdoor_shop="+forged))
		require.False(t, a.in(), "%q", forged)
		require.NotEmpty(t, a.setCookies())
	}
	assert.Empty(t, f.site.requests())
}

func TestTicketsFromTheFutureAreNotTrusted(t *testing.T) {
	for ahead, trusted := range map[time.Duration]bool{59 * time.Second: true, 61 * time.Second: false} {
		f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 1 }))
		f.clock.add(ahead)
		v := f.full()[0]
		f.clock.add(-ahead - 2*time.Second)
		assert.Equal(t, trusted, v.get("/").in(), "%v ahead", ahead)
	}
}

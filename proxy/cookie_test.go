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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

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
			f := gatetest.Start(t, gatetest.TrustingLoopback, func(cfg *proxy.Config, _ *proxy.Options) {
				if c.change != nil {
					c.change(&cfg.Rooms[0])
				}
			})
			scheme := gatetest.With("X-Forwarded-Proto", "http")
			if c.https {
				scheme = gatetest.OverHTTPS
			}
			for who, a := range map[string]gatetest.Answer{"accepted": f.Visitor().Get("/", scheme), "waiting": f.Visitor().Get("/", scheme)} {
				require.Len(t, a.Header["Set-Cookie"], 1, who)
				got := a.Header["Set-Cookie"][0]
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
	f := gatetest.Start(t)
	assert.Contains(t, f.Visitor().Get("/", gatetest.OverHTTPS).SetCookies(), "fairdoor_shop", "this one might be anybody")

	secure := httptest.NewUnstartedServer(f.Gate)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	v := f.Visitor()
	v.Base, v.Client = secure.URL, secure.Client()
	v.Client.Transport.(*http.Transport).TLSClientConfig.CipherSuites = []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	assert.Contains(t, v.Get("/").SetCookies(), "__Host-fairdoor_shop", "the connection says so itself")
}

func TestTicketIsIssuedAnewUnderTheNameOfTheOtherScheme(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	v := f.Visitor()
	require.Contains(t, v.Get("/").SetCookies(), "fairdoor_shop")
	a := v.Get("/", gatetest.OverHTTPS)
	assert.True(t, a.In(), "the place is the same")
	assert.Contains(t, a.SetCookies(), "__Host-fairdoor_shop")
	assert.Empty(t, v.Get("/", gatetest.OverHTTPS).SetCookies(), "once")

	waiting := f.Visitor()
	before := waiting.Get("/", gatetest.AsJSON)
	after := waiting.Get("/", gatetest.AsJSON, gatetest.OverHTTPS)
	assert.Contains(t, after.SetCookies(), "__Host-fairdoor_shop")
	assert.Equal(t, before.Told("lastUpdated"), after.Told("lastUpdated"))
}

func TestKeyRotationKeepsEveryonesPlace(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	waiting := f.Visitor()
	before := waiting.Get("/", gatetest.AsJSON)
	old := f.Config.Keys[0]

	f.Config.Keys = []cookie.Key{gatetest.NewKey(t), old}
	require.NoError(t, f.Configure(t.Context(), f.Config))
	a := in.Get("/")
	assert.True(t, a.In())
	assert.NotEmpty(t, a.SetCookies(), "issued anew with the new key")
	assert.Empty(t, in.Get("/").SetCookies(), "once")
	after := waiting.Get("/", gatetest.AsJSON)
	assert.NotEmpty(t, after.SetCookies())
	assert.Equal(t, before.Told("lastUpdated"), after.Told("lastUpdated"))
	assert.Empty(t, waiting.Get("/").SetCookies())

	f.Config.Keys = f.Config.Keys[:1]
	require.NoError(t, f.Configure(t.Context(), f.Config))
	assert.True(t, in.Get("/").In(), "the old key is needed no more")
	assert.Equal(t, before.Told("lastUpdated"), waiting.Get("/", gatetest.AsJSON).Told("lastUpdated"))
}

func TestTicketsOfSeveralRoomsLiveSideBySide(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes = "tickets", nil
		other.Routes = append(other.Routes, c.Rooms[0].Routes...)
		other.Routes[0].Path = "/tickets"
		c.Rooms = append(c.Rooms, other)
	})
	v := f.Visitor()
	assert.True(t, v.Get("/").In())
	assert.True(t, v.Get("/tickets/1").In())
	assert.Len(t, v.Cookies, 2)
	assert.Empty(t, v.Get("/").SetCookies())
	assert.Empty(t, v.Get("/tickets").SetCookies())

	thief := f.Visitor()
	f.Pass(2 * time.Second)
	thief.Cookies["fairdoor_tickets"] = v.Cookies["fairdoor_shop"]
	f.Status("tickets")
	assert.False(t, thief.Get("/tickets").In(), "a ticket of one room is none of another")
}

func TestFirstTicketThatOpensCounts(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	ticket := in.Cookies["fairdoor_shop"]
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
		assert.True(t, f.Visitor().Get("/", gatetest.With("Cookie", header)).In(), sentence)
	}
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
	assert.Zero(t, f.Status("shop").Queued)
}

func TestCookiesThatCannotBeReadAreToldAndTakeNoPlace(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	ticket := "fairdoor_shop=" + in.Cookies["fairdoor_shop"]
	for sentence, header := range map[string]string{
		"too many":  strings.Repeat("a;", 3000) + ticket,
		"too large": "a=" + strings.Repeat("x", 16<<10) + "; " + ticket,
	} {
		a := f.Visitor().Get("/", gatetest.With("Cookie", header))
		assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, a.Status, sentence)
		assert.Contains(t, a.Body, "<html", sentence)
		assert.Empty(t, a.Header["Set-Cookie"], sentence)
		a = f.Visitor().Get("/", gatetest.With("Cookie", header), gatetest.AsJSON)
		assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"), sentence)
	}
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Queued)
	assert.Empty(t, f.Site.Requests())
}

func TestTicketsThatAreNotOursAreThoseOfNewVisitors(t *testing.T) {
	f := gatetest.Start(t)
	ticket := f.Full()[0].Cookies["fairdoor_shop"]
	stranger := gatetest.Start(t) // with a key of its own
	foreign := stranger.Visitor()
	foreign.Get("/")
	tickets := []string{"", "x", foreign.Cookies["fairdoor_shop"], ticket[:len(ticket)-4], strings.Repeat("A", 600)}
	for i := range len(strings.TrimRight(ticket, "=")) - 1 { // the last character has bits that say nothing
		forged := []byte(ticket)
		forged[i] ^= 1
		tickets = append(tickets, string(forged))
	}
	for _, forged := range tickets {
		a := f.Visitor().Get("/", gatetest.With("Cookie", "fairdoor_shop="+forged))
		require.False(t, a.In(), "%q", forged)
		require.NotEmpty(t, a.SetCookies())
	}
	assert.Empty(t, f.Site.Requests())
}

func TestTicketsFromTheFutureAreNotTrusted(t *testing.T) {
	for ahead, trusted := range map[time.Duration]bool{59 * time.Second: true, 61 * time.Second: false} {
		f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 1 }))
		f.Clock.Add(ahead)
		v := f.Full()[0]
		f.Clock.Add(-ahead - 2*time.Second)
		assert.Equal(t, trusted, v.Get("/").In(), "%v ahead", ahead)
	}
}

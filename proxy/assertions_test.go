package proxy_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	admissionCookie = "fairdoor_admission_shop"
	edgeAdmission   = 30 * time.Second
)

// signing signs requests to the origin.
func signing(c *proxy.Config, _ *proxy.Options) { c.SignRequests = true }

// admittingAtEdges gives out admission tokens.
var admittingAtEdges = settings(func(s *queue.Settings) { s.EdgeAdmission = edgeAdmission })

// verified is what a token says, by keys that were fetched, if it is valid for the audience.
func (f *fixture) verified(token, audience string, keys string) (jwt.MapClaims, error) {
	f.t.Helper()
	set, err := keyfunc.NewJWKSetJSON(json.RawMessage(keys))
	require.NoError(f.t, err)
	claims := jwt.MapClaims{}
	_, err = jwt.ParseWithClaims(token, claims, set.Keyfunc, jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer("fairdoor"),
		jwt.WithAudience(audience), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(f.clock.Now))
	return claims, err
}

func (f *fixture) jwks() string { return f.visitor().get("/.fairdoor/jwks.json").body }

func TestOriginsCanTellWhatComesThroughTheGate(t *testing.T) {
	f := start(t, signing, func(c *proxy.Config, _ *proxy.Options) {
		c.Origin = c.Rooms[0].Origin
		c.Rooms[0].Routes[0].Path = "/shop"
		c.Rooms[0].Rules = []route.Rule{{Action: "bypass_waiting_room", Match: route.Conditions{Path: "/shop/health"}}}
	})
	keys := f.jwks()
	forged := []func(*http.Request){with("Fairdoor-Assertion", "x"), with("Connection", "Fairdoor-Assertion"), func(r *http.Request) {
		r.Header["Fairdoor_assertion"], r.Header["FAIRDOOR-ASSERTION"] = []string{"x"}, []string{"x"}
	}}
	v := f.visitor()
	for _, c := range []struct {
		target, room, status string
		changes              []func(*http.Request)
	}{
		{"/shop", "shop", "active", nil},
		{"/shop/style.css", "shop", "active", []func(*http.Request){with("Sec-Fetch-Dest", "style")}},
		{"/shop/health", "shop", "none", nil},
		{"/about", "", "none", nil},
	} {
		require.True(t, v.get(c.target, append(slices.Clone(forged), c.changes...)...).in(), c.target)
		seen := f.site.requests()[0]
		require.Len(t, seen.Header["Fairdoor-Assertion"], 1, c.target)
		for name := range seen.Header {
			assert.False(t, name != "Fairdoor-Assertion" && strings.EqualFold(strings.ReplaceAll(name, "_", "-"), "Fairdoor-Assertion"), name)
		}
		token := seen.Header.Get("Fairdoor-Assertion")
		claims, err := f.verified(token, "origin", keys)
		require.NoError(t, err, c.target)
		assert.Equal(t, c.room, claims["room"], c.target)
		assert.Equal(t, c.status, claims["status"], c.target)
		_, err = f.verified(token, "edge", keys)
		require.ErrorIs(t, err, jwt.ErrTokenInvalidAudience, "it is for origins only")

		stranger := newKey(t)
		other := start(t, func(c *proxy.Config, _ *proxy.Options) { c.Keys = []cookie.Key{stranger} })
		_, err = f.verified(token, "origin", other.jwks())
		require.Error(t, err, "another gate has signed it")
	}
	token := func() string {
		require.True(t, v.get("/shop").in())
		return f.site.requests()[0].Header.Get("Fairdoor-Assertion")
	}
	first := token()
	f.clock.add(10 * time.Second)
	assert.Equal(t, first, token(), "one signature is for the requests of many seconds")
	f.clock.add(15 * time.Second)
	last := token()
	assert.NotEqual(t, first, last)
	f.clock.add(59 * time.Second)
	_, err := f.verified(last, "origin", keys)
	require.NoError(t, err)
	f.clock.add(2 * time.Second)
	_, err = f.verified(last, "origin", keys)
	assert.ErrorIs(t, err, jwt.ErrTokenExpired, "replayed a minute later it is worth nothing")
}

func TestNothingIsSignedUnasked(t *testing.T) {
	f := start(t)
	v := f.visitor()
	require.True(t, v.get("/", with("Fairdoor-Assertion", "x")).in())
	require.True(t, v.get("/").in())
	for _, r := range f.site.requests() {
		assert.NotContains(t, r.Header, "Fairdoor-Assertion")
	}
	assert.NotContains(t, v.cookies, admissionCookie)
}

func TestKeysThatAreRotatedStayPublished(t *testing.T) {
	f := start(t, signing)
	v := f.visitor()
	signed := func() string {
		require.True(t, v.get("/").in())
		return f.site.requests()[0].Header.Get("Fairdoor-Assertion")
	}
	old := signed()
	next := newKey(t)
	published := f.visitor().get("/.fairdoor/jwks.json")
	assert.Equal(t, "application/jwk-set+json", published.header.Get("Content-Type"))
	assert.Equal(t, "public, max-age=300", published.header.Get("Cache-Control"))
	assert.NotContains(t, published.body, `"d"`, "private keys stay private")
	require.Equal(t, http.StatusMethodNotAllowed, f.visitor().send(http.MethodPost, "/.fairdoor/jwks.json", nil).status)

	f.config.Keys = append(f.config.Keys, next) // first the new key is published
	require.NoError(t, f.Configure(t.Context(), f.config))
	both := f.jwks()
	slices.Reverse(f.config.Keys) // then it signs
	require.NoError(t, f.Configure(t.Context(), f.config))
	renewed := signed()
	for name, token := range map[string]string{"of the old key": old, "of the new key": renewed} {
		_, err := f.verified(token, "origin", both)
		assert.NoError(t, err, name)
		_, err = f.verified(token, "origin", f.jwks())
		assert.NoError(t, err, name)
	}
	_, err := f.verified(renewed, "origin", published.body)
	assert.Error(t, err, "who did not fetch the new key does not know it")
	assert.Equal(t, 2, strings.Count(f.visitor().get("/.fairdoor/jwks.pem").body, "BEGIN PUBLIC KEY"))
}

func TestAdmissionTokensAreForThoseWhoAreIn(t *testing.T) {
	f := start(t, signing, admittingAtEdges, trustingLoopback, room(revokeEnabled), settings(func(s *queue.Settings) { s.ConfirmWithin = time.Minute }))
	revokes(f.site, "Fairdoor-Command", "revoke")
	v := f.visitor()
	require.True(t, v.get("/").in())
	require.NotContains(t, v.cookies, admissionCookie, "the slot of a newcomer is theirs once their ticket has come back")
	a := v.get("/")
	require.True(t, a.in())
	c := a.setCookies()[admissionCookie]
	require.NotNil(t, c)
	assert.Equal(t, int(edgeAdmission.Seconds()), c.MaxAge)
	assert.True(t, c.HttpOnly)
	assert.Equal(t, "private, no-store", a.header.Get("Cache-Control"))
	claims, err := f.verified(c.Value, "edge", f.jwks())
	require.NoError(t, err)
	assert.Equal(t, "shop", claims["room"])
	assert.InDelta(t, f.clock.Now().Add(edgeAdmission).Unix(), claims["exp"], 0)
	again, err := f.verified(v.get("/").setCookies()[admissionCookie].Value, "edge", f.jwks())
	require.NoError(t, err)
	assert.Equal(t, claims["sub"], again["sub"], "the same visitor")
	_, err = f.verified(c.Value, "origin", f.jwks())
	require.ErrorIs(t, err, jwt.ErrTokenInvalidAudience, "visitors see it: it proves nothing to origins that ask for the gate's word")

	part := v.get("/style.css", with("Sec-Fetch-Dest", "style"))
	assert.NotContains(t, part.setCookies(), admissionCookie, "parts of pages can be cached")
	assert.Contains(t, v.get("/", overHTTPS).setCookies(), "__Host-"+admissionCookie)
	assert.Contains(t, v.get("/.fairdoor/session?renew=1").setCookies(), admissionCookie)
	for _, r := range f.site.requests() {
		assert.NotContains(t, r.Header.Get("Cookie"), "fairdoor", "tokens do not reach the origin as cookies")
	}
	f.pass(2 * time.Second)
	waiting := f.visitor()
	for range 3 {
		require.False(t, waiting.get("/", with("Cookie", admissionCookie+"="+c.Value)).in(), "the gate goes by tickets")
		assert.NotContains(t, waiting.cookies, admissionCookie)
		f.pass(interval)
	}
	v.get("/")
	assert.Equal(t, -1, v.get("/logout").setCookies()[admissionCookie].MaxAge, "who is thrown out loses it")
}

func TestEachRoomOfAFamilyHasTokensOfItsOwn(t *testing.T) {
	f := start(t, signing, admittingAtEdges, room(func(r *proxy.RoomConfig) { r.Routes[0].Path = "/room/{id}" }))
	v := f.visitor()
	for _, name := range []string{"shop.7", "shop.8"} {
		a := v.get("/room/" + strings.TrimPrefix(name, "shop."))
		require.True(t, a.in())
		token := a.setCookies()["fairdoor_admission_"+name]
		require.NotNil(t, token)
		for audience, text := range map[string]string{"edge": token.Value, "origin": f.site.requests()[0].Header.Get("Fairdoor-Assertion")} {
			claims, err := f.verified(text, audience, f.jwks())
			require.NoError(t, err)
			assert.Equal(t, name, claims["room"])
		}
	}
}

func TestAnAdmissionTokenEndsWithAFixedSession(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.EdgeAdmission, s.DisableSessionRenewal = 4*time.Minute, true }))
	v := f.visitor()
	v.get("/")
	f.pass(30 * time.Second)
	require.Equal(t, 240, v.get("/").setCookies()[admissionCookie].MaxAge)
	f.clock.add(5 * time.Minute)
	f.pass(time.Second)
	assert.Equal(t, 149, v.get("/").setCookies()[admissionCookie].MaxAge, "of the session of eight minutes so much is left")
}

// edge lets visitors pass to the site by their admission tokens, and sends all others to the gate.
type edge struct {
	*fixture
	keys string
}

// get sends a visitor's request, and says whether the site got it, and whether the edge let it pass by itself.
func (e *edge) get(v *visitor) (in, alone bool) {
	e.t.Helper()
	if token, ok := v.cookies[admissionCookie]; ok {
		if _, err := e.verified(token, "edge", e.keys); err == nil {
			return true, true
		}
	}
	return v.get("/").in(), false
}

// visit is a time in which the site served a visitor, as its log has it, from the first request to the last.
type visit struct {
	by          *visitor
	first, last time.Time
	requests    int
}

// siteLog has the visits to a site. Those of one visitor are told apart where a session may have ended between them.
type siteLog struct {
	visits []*visit
	latest map[*visitor]*visit
}

func (l *siteLog) note(v *visitor, now time.Time, mayBeNew func(*visit) bool) {
	if at := l.latest[v]; at != nil && !mayBeNew(at) {
		at.last = now
		at.requests++
		return
	}
	l.latest[v] = &visit{by: v, first: now, last: now, requests: 1}
	l.visits = append(l.visits, l.latest[v])
}

// atOnce is how many visitors the site served at a time, at most.
func (l *siteLog) atOnce() (most int) {
	for _, begins := range l.visits {
		n := 0
		for _, other := range l.visits {
			if !other.first.After(begins.first) && !other.last.Before(begins.first) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// While edges let people pass by themselves, the site never serves more visitors at a time than total_active_users, as its log
// has it; and who goes on using the site is not thrown out.
func TestEdgesNeverLetInMoreThanTheRoomTakes(t *testing.T) {
	const slots, session, confirm = 2, 2 * time.Minute, 50 * time.Second
	for name, c := range map[string]struct {
		lasts time.Duration
		fixed bool
	}{
		"short tokens":                           {5 * time.Second, false},
		"tokens of half a session":               {time.Minute, false},
		"short tokens in a fixed session":        {5 * time.Second, true},
		"tokens of half a session that is fixed": {time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) {
				s.TotalActiveUsers, s.SessionDuration, s.EdgeAdmission = slots, session, c.lasts
				s.DisableSessionRenewal, s.ConfirmWithin = c.fixed, confirm
			}))
			e, log, random := &edge{f, f.jwks()}, &siteLog{latest: map[*visitor]*visit{}}, rand.New(rand.NewPCG(1, 2))
			crowd, alone, thrownOut := make([]*visitor, 5), 0, 0
			for i := range crowd {
				crowd[i] = f.visitor()
			}
			for range 150 {
				f.pass(time.Duration(random.IntN(25_000)) * time.Millisecond)
				v, now := crowd[random.IntN(len(crowd))], f.clock.Now()
				in, byEdge := e.get(v)
				if byEdge {
					alone++
				}
				mayHaveEnded := func(at *visit) bool {
					gone := now.Sub(at.last)
					return gone >= session-c.lasts || at.requests == 1 && gone >= confirm || c.fixed && now.Sub(at.first) >= session
				}
				if in {
					log.note(v, now, func(at *visit) bool { return !byEdge && mayHaveEnded(at) })
				} else if last := log.latest[v]; last != nil {
					thrownOut++
					assert.True(t, c.fixed || mayHaveEnded(last), "whoever goes on is not thrown out, and came %s ago", now.Sub(last.last))
					delete(log.latest, v)
				}
			}
			assert.LessOrEqual(t, log.atOnce(), slots)
			assert.Positive(t, alone)
			assert.Positive(t, thrownOut)
		})
	}
}

// A session that an operator or the origin ends lasts at edges as long as its last token does, and no longer.
func TestARevokedSessionEndsAtEdgesWithItsToken(t *testing.T) {
	f := start(t, admittingAtEdges, room(revokeEnabled))
	revokes(f.site, "Fairdoor-Command", "revoke")
	e, v := &edge{f, f.jwks()}, f.visitor()
	v.get("/")
	kept := v.twin()
	f.pass(10 * time.Second)
	v.get("/logout")
	f.pass(time.Second)
	require.True(t, f.visitor().get("/").in(), "the gate gives the slot away at once")
	for lasted := 11 * time.Second; lasted < edgeAdmission; lasted += time.Second {
		in, alone := e.get(kept)
		require.True(t, in && alone, "%s after the token was given", lasted)
		f.clock.add(time.Second)
	}
	in, _ := e.get(kept)
	assert.False(t, in, "the token has ended, and the gate goes by the session")
}

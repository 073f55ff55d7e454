package edge_test

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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// verified is what a token says, by keys that were fetched, if it is valid for the audience.
func verified(f *gatetest.Fixture, token, audience string, keys string) (jwt.MapClaims, error) {
	f.T.Helper()
	set, err := keyfunc.NewJWKSetJSON(json.RawMessage(keys))
	require.NoError(f.T, err)
	claims := jwt.MapClaims{}
	_, err = jwt.ParseWithClaims(token, claims, set.Keyfunc, jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer("fairdoor"),
		jwt.WithAudience(audience), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(f.Clock.Now))
	return claims, err
}

func jwks(f *gatetest.Fixture) string { return f.Visitor().Get("/.fairdoor/jwks.json").Body }

func TestOriginsCanTellWhatComesThroughTheGate(t *testing.T) {
	f := gatetest.Start(t, gatetest.Signing, func(c *proxy.Config, _ *proxy.Options) {
		c.Origin = c.Rooms[0].Origin
		c.Rooms[0].Routes[0].Path = "/shop"
		c.Rooms[0].Rules = []route.Rule{{Action: "bypass_waiting_room", Match: route.Conditions{Path: "/shop/health"}}}
	})
	keys := jwks(f)
	forged := []func(*http.Request){gatetest.With("Fairdoor-Assertion", "x"), gatetest.With("Connection", "Fairdoor-Assertion"), func(r *http.Request) {
		r.Header["Fairdoor_assertion"], r.Header["FAIRDOOR-ASSERTION"] = []string{"x"}, []string{"x"}
	}}
	v := f.Visitor()
	for _, c := range []struct {
		target, room, status string
		changes              []func(*http.Request)
	}{
		{"/shop", "shop", "active", nil},
		{"/shop/style.css", "shop", "active", []func(*http.Request){gatetest.With("Sec-Fetch-Dest", "style")}},
		{"/shop/health", "shop", "none", nil},
		{"/about", "", "none", nil},
	} {
		require.True(t, v.Get(c.target, append(slices.Clone(forged), c.changes...)...).In(), c.target)
		seen := f.Site.Requests()[0]
		require.Len(t, seen.Header["Fairdoor-Assertion"], 1, c.target)
		for name := range seen.Header {
			assert.False(t, name != "Fairdoor-Assertion" && strings.EqualFold(strings.ReplaceAll(name, "_", "-"), "Fairdoor-Assertion"), name)
		}
		token := seen.Header.Get("Fairdoor-Assertion")
		claims, err := verified(f, token, "origin", keys)
		require.NoError(t, err, c.target)
		assert.Equal(t, c.room, claims["room"], c.target)
		assert.Equal(t, c.status, claims["status"], c.target)
		_, err = verified(f, token, "edge", keys)
		require.ErrorIs(t, err, jwt.ErrTokenInvalidAudience, "it is for origins only")

		stranger := gatetest.NewKey(t)
		other := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.Keys = []cookie.Key{stranger} })
		_, err = verified(f, token, "origin", jwks(other))
		require.Error(t, err, "another gate has signed it")
	}
	token := func() string {
		require.True(t, v.Get("/shop").In())
		return f.Site.Requests()[0].Header.Get("Fairdoor-Assertion")
	}
	first := token()
	f.Clock.Add(10 * time.Second)
	assert.Equal(t, first, token(), "one signature is for the requests of many seconds")
	f.Clock.Add(15 * time.Second)
	last := token()
	assert.NotEqual(t, first, last)
	f.Clock.Add(59 * time.Second)
	_, err := verified(f, last, "origin", keys)
	require.NoError(t, err)
	f.Clock.Add(2 * time.Second)
	_, err = verified(f, last, "origin", keys)
	assert.ErrorIs(t, err, jwt.ErrTokenExpired, "replayed a minute later it is worth nothing")
}

func TestNothingIsSignedUnasked(t *testing.T) {
	f := gatetest.Start(t)
	v := f.Visitor()
	require.True(t, v.Get("/", gatetest.With("Fairdoor-Assertion", "x")).In())
	require.True(t, v.Get("/").In())
	for _, r := range f.Site.Requests() {
		assert.NotContains(t, r.Header, "Fairdoor-Assertion")
	}
	assert.NotContains(t, v.Cookies, gatetest.AdmissionCookie)
}

func TestKeysThatAreRotatedStayPublished(t *testing.T) {
	f := gatetest.Start(t, gatetest.Signing)
	v := f.Visitor()
	signed := func() string {
		require.True(t, v.Get("/").In())
		return f.Site.Requests()[0].Header.Get("Fairdoor-Assertion")
	}
	old := signed()
	next := gatetest.NewKey(t)
	published := f.Visitor().Get("/.fairdoor/jwks.json")
	assert.Equal(t, "application/jwk-set+json", published.Header.Get("Content-Type"))
	assert.Equal(t, "public, max-age=300", published.Header.Get("Cache-Control"))
	assert.NotContains(t, published.Body, `"d"`, "private keys stay private")
	require.Equal(t, http.StatusMethodNotAllowed, f.Visitor().Send(http.MethodPost, "/.fairdoor/jwks.json", nil).Status)

	f.Config.Keys = append(f.Config.Keys, next) // first the new key is published
	require.NoError(t, f.Configure(t.Context(), f.Config))
	both := jwks(f)
	slices.Reverse(f.Config.Keys) // then it signs
	require.NoError(t, f.Configure(t.Context(), f.Config))
	renewed := signed()
	for name, token := range map[string]string{"of the old key": old, "of the new key": renewed} {
		_, err := verified(f, token, "origin", both)
		assert.NoError(t, err, name)
		_, err = verified(f, token, "origin", jwks(f))
		assert.NoError(t, err, name)
	}
	_, err := verified(f, renewed, "origin", published.Body)
	assert.Error(t, err, "who did not fetch the new key does not know it")
	assert.Equal(t, 2, strings.Count(f.Visitor().Get("/.fairdoor/jwks.pem").Body, "BEGIN PUBLIC KEY"))
}

func TestAdmissionTokensAreForThoseWhoAreIn(t *testing.T) {
	f := gatetest.Start(t, gatetest.Signing, gatetest.AdmittingAtEdges, gatetest.TrustingLoopback, gatetest.Room(gatetest.RevokeEnabled), gatetest.Settings(func(s *queue.Settings) { s.ConfirmWithin = time.Minute }))
	gatetest.Revokes(f.Site, "Fairdoor-Command", "revoke")
	v := f.Visitor()
	require.True(t, v.Get("/").In())
	require.NotContains(t, v.Cookies, gatetest.AdmissionCookie, "the slot of a newcomer is theirs once their ticket has come back")
	a := v.Get("/")
	require.True(t, a.In())
	c := a.SetCookies()[gatetest.AdmissionCookie]
	require.NotNil(t, c)
	assert.Equal(t, int(gatetest.EdgeAdmission.Seconds()), c.MaxAge)
	assert.True(t, c.HttpOnly)
	assert.Equal(t, "private, no-store", a.Header.Get("Cache-Control"))
	claims, err := verified(f, c.Value, "edge", jwks(f))
	require.NoError(t, err)
	assert.Equal(t, "shop", claims["room"])
	assert.InDelta(t, f.Clock.Now().Add(gatetest.EdgeAdmission).Unix(), claims["exp"], 0)
	again, err := verified(f, v.Get("/").SetCookies()[gatetest.AdmissionCookie].Value, "edge", jwks(f))
	require.NoError(t, err)
	assert.Equal(t, claims["sub"], again["sub"], "the same visitor")
	_, err = verified(f, c.Value, "origin", jwks(f))
	require.ErrorIs(t, err, jwt.ErrTokenInvalidAudience, "visitors see it: it proves nothing to origins that ask for the gate's word")

	part := v.Get("/style.css", gatetest.With("Sec-Fetch-Dest", "style"))
	assert.NotContains(t, part.SetCookies(), gatetest.AdmissionCookie, "parts of pages can be cached")
	assert.Contains(t, v.Get("/", gatetest.OverHTTPS).SetCookies(), "__Host-"+gatetest.AdmissionCookie)
	assert.Contains(t, v.Get("/.fairdoor/session?renew=1").SetCookies(), gatetest.AdmissionCookie)
	for _, r := range f.Site.Requests() {
		assert.NotContains(t, r.Header.Get("Cookie"), "fairdoor", "tokens do not reach the origin as cookies")
	}
	f.Pass(2 * time.Second)
	waiting := f.Visitor()
	for range 3 {
		require.False(t, waiting.Get("/", gatetest.With("Cookie", gatetest.AdmissionCookie+"="+c.Value)).In(), "the gate goes by tickets")
		assert.NotContains(t, waiting.Cookies, gatetest.AdmissionCookie)
		f.Pass(gatetest.Interval)
	}
	v.Get("/")
	assert.Equal(t, -1, v.Get("/logout").SetCookies()[gatetest.AdmissionCookie].MaxAge, "who is thrown out loses it")
}

func TestEachRoomOfAFamilyHasTokensOfItsOwn(t *testing.T) {
	f := gatetest.Start(t, gatetest.Signing, gatetest.AdmittingAtEdges, gatetest.Room(func(r *proxy.RoomConfig) { r.Routes[0].Path = "/room/{id}" }))
	v := f.Visitor()
	for _, name := range []string{"shop.7", "shop.8"} {
		a := v.Get("/room/" + strings.TrimPrefix(name, "shop."))
		require.True(t, a.In())
		token := a.SetCookies()["fairdoor_admission_"+name]
		require.NotNil(t, token)
		for audience, text := range map[string]string{"edge": token.Value, "origin": f.Site.Requests()[0].Header.Get("Fairdoor-Assertion")} {
			claims, err := verified(f, text, audience, jwks(f))
			require.NoError(t, err)
			assert.Equal(t, name, claims["room"])
		}
	}
}

func TestAnAdmissionTokenEndsWithAFixedSession(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.EdgeAdmission, s.DisableSessionRenewal = 4*time.Minute, true }))
	v := f.Visitor()
	v.Get("/")
	f.Pass(30 * time.Second)
	require.Equal(t, 240, v.Get("/").SetCookies()[gatetest.AdmissionCookie].MaxAge)
	f.Clock.Add(5 * time.Minute)
	f.Pass(time.Second)
	assert.Equal(t, 149, v.Get("/").SetCookies()[gatetest.AdmissionCookie].MaxAge, "of the session of eight minutes so much is left")
}

// edge lets visitors pass to the site by their admission tokens, and sends all others to the gate.
type edge struct {
	*gatetest.Fixture
	keys string
}

// get sends a visitor's request, and says whether the site got it, and whether the edge let it pass
// by itself.
func (e *edge) get(v *gatetest.Visitor) (in, alone bool) {
	e.T.Helper()
	if token, ok := v.Cookies[gatetest.AdmissionCookie]; ok {
		if _, err := verified(e.Fixture, token, "edge", e.keys); err == nil {
			return true, true
		}
	}
	return v.Get("/").In(), false
}

// visit is a time in which the site served a visitor, as its log has it, from the first request to
// the last.
type visit struct {
	by          *gatetest.Visitor
	first, last time.Time
	begins      []time.Time // each at which their session may have begun
	confirmed   bool        // by a second request, that no edge answered by itself
}

// siteLog has the visits to a site. Those of one visitor are told apart where a session may have
// ended between them.
type siteLog struct {
	visits []*visit
	latest map[*gatetest.Visitor]*visit
}

// note takes in a request of a visitor whose sessions last for a time at most, if they are fixed. If
// mayBeNew, the session of their latest visit may have ended, or may go on.
func (l *siteLog) note(v *gatetest.Visitor, now time.Time, byEdge, mayBeNew bool, session time.Duration) {
	at, begins := l.latest[v], []time.Time{}
	if at != nil && !mayBeNew {
		at.last, at.confirmed = now, at.confirmed || !byEdge
		return
	}
	if at != nil {
		begins = slices.DeleteFunc(at.begins, func(begin time.Time) bool { return now.Sub(begin) >= session })
	}
	l.latest[v] = &visit{by: v, first: now, last: now, begins: append(begins, now)}
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

// While edges let people pass by themselves, the site never serves more visitors at a time than
// total_active_users, as its log has it; and who goes on using the site is not thrown out.
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
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
				s.TotalActiveUsers, s.SessionDuration, s.EdgeAdmission = slots, session, c.lasts
				s.DisableSessionRenewal, s.ConfirmWithin = c.fixed, confirm
			}))
			e, log, random := &edge{f, jwks(f)}, &siteLog{latest: map[*gatetest.Visitor]*visit{}}, rand.New(rand.NewPCG(1, 2))
			crowd, alone, thrownOut := make([]*gatetest.Visitor, 5), 0, 0
			for i := range crowd {
				crowd[i] = f.Visitor()
			}
			for i := 0; i < 500 || i < 5000 && alone*thrownOut == 0; i++ {
				f.Pass(time.Duration(random.IntN(25_000)) * time.Millisecond)
				v, now := crowd[random.IntN(len(crowd))], f.Clock.Now()
				in, byEdge := e.get(v)
				if byEdge {
					alone++
				}
				mayHaveEnded := func(at *visit) bool {
					gone := now.Sub(at.last)
					return gone >= session-c.lasts || !at.confirmed && now.Sub(at.first) >= confirm || c.fixed && now.Sub(at.begins[0]) >= session
				}
				if in {
					last := log.latest[v]
					log.note(v, now, byEdge, !byEdge && last != nil && mayHaveEnded(last), session)
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

// A session that an operator or the origin ends lasts at edges as long as its last token does, and
// no longer.
func TestARevokedSessionEndsAtEdgesWithItsToken(t *testing.T) {
	f := gatetest.Start(t, gatetest.AdmittingAtEdges, gatetest.Room(gatetest.RevokeEnabled))
	gatetest.Revokes(f.Site, "Fairdoor-Command", "revoke")
	e, v := &edge{f, jwks(f)}, f.Visitor()
	v.Get("/")
	kept := v.Twin()
	f.Pass(10 * time.Second)
	v.Get("/logout")
	f.Pass(time.Second)
	require.True(t, f.Visitor().Get("/").In(), "the gate gives the slot away at once")
	for lasted := 11 * time.Second; lasted < gatetest.EdgeAdmission; lasted += time.Second {
		in, alone := e.get(kept)
		require.True(t, in && alone, "%s after the token was given", lasted)
		f.Clock.Add(time.Second)
	}
	in, _ := e.get(kept)
	assert.False(t, in, "the token has ended, and the gate goes by the session")
}

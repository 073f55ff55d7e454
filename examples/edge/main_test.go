package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// admissionLasts is the gate's edge_admission.
const admissionLasts = 5 * time.Second

// guest is somebody with a browser's cookies.
type guest struct {
	t       *testing.T
	browser *http.Client
	at      addresses
}

func (g guest) send(method, address string, headers ...string) (came, body string) {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, "http://"+address, nil)
	require.NoError(g.t, err)
	req.Header.Set("Accept", "text/html")
	for i := 0; i < len(headers); i += 2 {
		req.Header[headers[i]] = []string{headers[i+1]}
	}
	answer, err := g.browser.Do(req)
	require.NoError(g.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(g.t, err)
	return answer.Header.Get("Came-By"), string(text)
}

// came is by what the guest's request got to the shop: "edge" if it brought a token, "origin" if
// the gate has signed it, and "" if it did not get there.
func (g guest) came(headers ...string) string {
	g.t.Helper()
	came, _ := g.send(http.MethodGet, g.at.visitors+"/", headers...)
	return came
}

// token is the guest's admission token.
func (g guest) token() string {
	g.t.Helper()
	for _, c := range g.browser.Jar.Cookies(&url.URL{Scheme: "http", Host: g.at.visitors, Path: "/"}) {
		if c.Name == "fairdoor_admission_shop" {
			return c.Value
		}
	}
	return ""
}

func TestHAProxyPassesThoseWhoAreIn(t *testing.T) { testEdge(t, "haproxy") }

func TestNginxPassesThoseWhoAreIn(t *testing.T) { testEdge(t, "nginx") }

// tellingCookies is a shop that tells at /cookies which ones it gets.
func tellingCookies(shop http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cookies" {
			_, _ = io.WriteString(w, r.Header.Get("Cookie"))
			return
		}
		shop.ServeHTTP(w, r)
	})
}

func testEdge(t *testing.T, edge string) {
	t.Parallel()
	at := addresses{shop: porttest.Address(t), visitors: porttest.Address(t), gate: porttest.Address(t), admin: porttest.Address(t)}
	said, shop := &stagetest.Output{}, &stagetest.Shop{Handler: tellingCookies(stage.Shop())}
	stagetest.Start(t, at.admin, func(ctx context.Context, out io.Writer) error {
		return run(ctx, io.MultiWriter(out, said), edge, at, shop)
	})
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "Open http") }, time.Minute, 20*time.Millisecond)
	arrive := func() guest { return guest{t: t, browser: stagetest.Visitor(t), at: at} }

	ann, ben, eve := arrive(), arrive(), arrive()
	for _, g := range []guest{ann, ben} {
		require.Equal(t, "origin", g.came(), "a newcomer comes through the gate")
		require.Empty(t, g.token(), "the slot of a newcomer is not theirs before the ticket has come back")
		require.Equal(t, "origin", g.came())
		g.comes("edge", "the edge passes them by itself")
	}
	require.Empty(t, eve.came(), "the shop is full")
	shop.TakesWhatSitesTake(t, ann.browser, eve.browser, "http://"+at.visitors)

	eveWith := func(token string) string { return eve.came("Cookie", "fairdoor_admission_shop="+token) }
	parts := strings.Split(ann.token(), ".")
	for name, forged := range map[string]string{
		"of nobody":        "eyJhbGciOiJFUzI1NiJ9.e30.AAAA",
		"with other words": parts[0] + "." + parts[1][:len(parts[1])-3] + "abc." + parts[2],
		"unsigned":         "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"cut short":        parts[0] + "." + parts[1] + "." + parts[2][:len(parts[2])-2],
		"that is none":     "x",
	} {
		assert.Empty(t, eveWith(forged), "a token %s", name)
	}
	assert.Empty(t, eve.came("Fairdoor-Assertion", ann.token()), "a header of a visitor's says nothing")
	assert.Empty(t, eve.came("Fairdoor_Assertion", ann.token()))
	require.Eventually(t, func() bool {
		ann.came()
		return eveWith(ann.token()) == "edge"
	}, time.Minute, 20*time.Millisecond, "whoever has somebody's token is let in with it, while it lasts")

	came, body := eve.send(http.MethodGet, at.shop+"/")
	assert.Empty(t, came, "nobody gets to the shop around its gate")
	assert.Contains(t, body, "front door")

	_, body = ann.send(http.MethodGet, at.visitors+"/cookies", "Cookie", "my_fairdoor_x=1; fairdoor_y=2; fairdoor_admission_shop="+ann.token()+"; own=3")
	assert.Equal(t, "my_fairdoor_x=1; own=3", body, "the shop gets its own cookies, whole")

	ben.comes("edge", "with a token that lasts")
	kept := ben.token()
	_, body = ben.send(http.MethodPost, at.visitors+"/leave?from=shop")
	require.Contains(t, body, "Goodbye")
	assert.Empty(t, ben.token(), "the gate takes the token back")
	eve.passesNoLonger(edge, kept)

	ann.comes("origin", "after edge_admission the gate is asked again, which renews the session")
	ann.comes("edge", "and gives another token")
}

func TestCookiesWithCommasReachTheShopWhole(t *testing.T) {
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	signer, err := assertion.New(cookie.Keys{key}, time.Now)
	require.NoError(t, err)
	token, err := signer.Admission("shop", [16]byte{1}, time.Hour)
	require.NoError(t, err)
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(map[bool][]byte{true: signer.JWKS(), false: signer.PEM()}[strings.HasSuffix(r.URL.Path, ".json")])
	}))
	defer gate.Close()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Came-By", "edge")
		_, _ = io.WriteString(w, r.Header.Get("Cookie"))
	}))
	defer shop.Close()
	for _, edge := range []string{"haproxy", "nginx"} {
		t.Run(edge, func(t *testing.T) {
			at := addresses{shop: shop.Listener.Addr().String(), visitors: porttest.Address(t), gate: gate.Listener.Addr().String()}
			require.NoError(t, stage.WithProcesses(io.Discard, t.TempDir(), func(p *stage.Processes) error {
				if err := inFront(t.Context(), p, edge, at); err != nil {
					return err
				}
				g := guest{t: t, browser: stagetest.Visitor(t), at: at}
				came, cookies := g.send(http.MethodGet, at.visitors+"/", "Cookie", "seen=1,2; fairdoor_admission_shop="+token+"; sizes=3,4")
				assert.Equal(t, "edge", came)
				assert.Equal(t, "seen=1,2; sizes=3,4", cookies)
				return nil
			}))
		})
	}
}

// comes waits until the guest's requests get to the shop in a way.
func (g guest) comes(by, why string) {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.came() == by }, time.Minute, 20*time.Millisecond, why)
}

// passesNoLonger measures for how long the edge lets a guest pass with the token of a session that
// has ended just now.
func (g guest) passesNoLonger(edge, token string) {
	g.t.Helper()
	ended, last := time.Now(), time.Duration(0)
	require.Eventually(g.t, func() bool {
		sent := time.Since(ended)
		if g.came("Cookie", "fairdoor_admission_shop="+token) != "edge" {
			return true
		}
		last = sent
		return false
	}, time.Minute, 20*time.Millisecond)
	g.t.Logf("%s passed on a token for %s after its session had ended", edge, last.Round(10*time.Millisecond))
	assert.LessOrEqual(g.t, last, admissionLasts, "the end of a session counts at the edge within edge_admission")
}

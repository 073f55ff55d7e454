package proxy_test

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

func TestRequestsThatAnAgentSignedPassAsVerifiedBots(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	x := base64.RawURLEncoding.EncodeToString(public)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	directory := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/http-message-signatures-directory+json")
		_, _ = io.WriteString(w, `{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "`+x+`", "use": "sig"}]}`)
	}))
	t.Cleanup(directory.Close)
	config := func(c *proxy.Config, _ *proxy.Options) {
		c.SignatureAgents = map[string]string{"bot.example": directory.URL}
	}
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{VerifiedBot: true}}}
		r.Routes = append(r.Routes, route.Route{Host: "127.0.0.1"})
	}), config)
	f.Full()
	now := f.Clock.Now()
	by := func(agent string) func(*http.Request) {
		return func(r *http.Request) {
			input := fmt.Sprintf(`("@authority" "signature-agent");created=%d;expires=%d;keyid=%q;tag="web-bot-auth"`,
				now.Unix(), now.Add(time.Hour).Unix(), base64.RawURLEncoding.EncodeToString(sum[:]))
			base := fmt.Sprintf("\"@authority\": %s\n\"signature-agent\": \"https://%s\"\n\"@signature-params\": %s", cmp.Or(r.Host, r.URL.Host), agent, input)
			r.Header.Set("Signature-Agent", `"https://`+agent+`"`)
			r.Header.Set("Signature-Input", "sig="+input)
			r.Header.Set("Signature", "sig=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(base)))+":")
		}
	}
	assert.True(t, f.Visitor().Get("/", by("bot.example")).In())
	assert.False(t, f.Visitor().Get("/", by("other.example")).In(), "the agent does not count")
	assert.False(t, f.Visitor().Get("/", by("bot.example"), gatetest.With("Signature-Agent", `"https://bot.example/"`)).In(), "it signed another header")
	elsewhere := func(r *http.Request) { r.Host = "elsewhere.example" }
	assert.False(t, f.Visitor().Get("/", elsewhere, by("bot.example")).In(), "it signed for the site of somebody else, who sends that here")
	assert.False(t, f.Visitor().Get("/").In())
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active, "it is not counted")
	f.Pass(2 * time.Hour)
	f.Full()
	assert.False(t, f.Visitor().Get("/", by("bot.example")).In(), "the signature is out of date")
}

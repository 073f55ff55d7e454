package signature_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/signature"
)

var (
	// key is test-key-ed25519 of RFC 9421, appendix B.1.4.
	key = ed25519.NewKeyFromSeed(decode("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"))
	now = time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
)

// keyID is the thumbprint of key, as appendix A.3 of RFC 8037 has it for another.
const keyID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"

func decode(s string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func agents(host string) signature.Agents {
	return signature.Agents{host: func() []ed25519.PublicKey { return []ed25519.PublicKey{key.Public().(ed25519.PublicKey)} }}
}

// signed returns a request with a signature of a base, whose last line is that of the input.
func signed(agent, base, input string) *signature.Request {
	made := ed25519.Sign(key, []byte(base+`"@signature-params": `+input))
	return &signature.Request{Method: http.MethodGet, Host: "Shop.example:443", Target: "/lamps?id=1", Header: http.Header{
		"Signature-Agent": {agent}, "Signature-Input": {"sig2=" + input},
		"Signature": {"sig2=:" + base64.StdEncoding.EncodeToString(made) + ":"},
	}}
}

// input covers components with a signature that holds from a minute ago for an hour.
func input(components string) string {
	return fmt.Sprintf(`(%s);created=%d;expires=%d;keyid=%q;alg="ed25519";tag="web-bot-auth"`, components, now.Unix()-60, now.Unix()+3540, keyID)
}

const (
	both   = `"@authority" "signature-agent"`
	lines  = "\"@authority\": shop.example\n\"signature-agent\": \"https://Bot.example\"\n"
	theBot = `"https://Bot.example"`
)

func TestTheIdOfAKeyIsItsThumbprint(t *testing.T) {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`))
	assert.Equal(t, keyID, base64.RawURLEncoding.EncodeToString(sum[:]))
	assert.Equal(t, "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs", base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey)))
}

func TestRequestsThatAnAgentSignedAreVerified(t *testing.T) {
	for name, q := range map[string]*signature.Request{
		"what the profile asks for": signed(theBot, lines, input(both)),
		"an agent in a dictionary": signed(`other="https://x.example", bot=`+theBot,
			"\"@authority\": shop.example\n\"signature-agent\";key=\"bot\": \"https://Bot.example\"\n", input(`"@authority" "signature-agent";key="bot"`)),
		"an agent with its port":  signed(`"https://bot.example:443"`, "\"@authority\": shop.example\n\"signature-agent\": \"https://bot.example:443\"\n", input(both)),
		"method, path and query":  signed(theBot, "\"@method\": GET\n\"@path\": /lamps\n\"@query\": ?id=1\n"+lines, input(`"@method" "@path" "@query" `+both)),
		"a clock a little ahead":  signed(theBot, lines, strings.ReplaceAll(input(both), fmt.Sprint("created=", now.Unix()-60), fmt.Sprint("created=", now.Unix()+59))),
		"a clock a little behind": signed(theBot, lines, strings.ReplaceAll(input(both), fmt.Sprint("expires=", now.Unix()+3540), fmt.Sprint("expires=", now.Unix()-59))),
	} {
		assert.True(t, agents("bot.example").Verified(q, now), name)
	}
}

func TestOtherRequestsAreNotVerified(t *testing.T) {
	good := func() *signature.Request { return signed(theBot, lines, input(both)) }
	changed := func(change func(*signature.Request)) *signature.Request {
		q := good()
		change(q)
		return q
	}
	with := func(old, now string) *signature.Request {
		return signed(theBot, lines, strings.Replace(input(both), old, now, 1))
	}
	created, expires := fmt.Sprint("created=", now.Unix()-60), fmt.Sprint("expires=", now.Unix()+3540)
	for name, q := range map[string]*signature.Request{
		"unsigned":                    {Header: http.Header{}},
		"for another host":            changed(func(q *signature.Request) { q.Host = "other.example" }),
		"of another agent":            changed(func(q *signature.Request) { q.Header.Set("Signature-Agent", `"https://other.example"`) }),
		"by http":                     signed(`"http://bot.example"`, "\"@authority\": shop.example\n\"signature-agent\": \"http://bot.example\"\n", input(both)),
		"without @authority":          signed(theBot, "\"signature-agent\": "+theBot+"\n", input(`"signature-agent"`)),
		"without its agent":           signed(theBot, "\"@authority\": shop.example\n", input(`"@authority"`)),
		"with a component twice":      signed(theBot, lines+"\"@authority\": shop.example\n", input(both+` "@authority"`)),
		"of a header that is not":     signed(theBot, lines+"\"date\": \n", input(both+` "date"`)),
		"with a parameter":            signed(theBot, "\"@authority\";req: shop.example\n\"signature-agent\": "+theBot+"\n", input(`"@authority";req "signature-agent"`)),
		"for another purpose":         with("web-bot-auth", "other"),
		"by another key":              with(keyID, "other"),
		"by another algorithm":        with("ed25519", "hmac-sha256"),
		"made later":                  with(created, fmt.Sprint("created=", now.Unix()+61)),
		"out of date":                 with(expires, fmt.Sprint("expires=", now.Unix()-60)),
		"that lasts too long":         with(expires, fmt.Sprint("expires=", now.Unix()-60+3601)),
		"that never expires":          with(";"+expires, ""),
		"that was never made":         with(created+";", ""),
		"that expires by a text":      with(expires, `expires="9999999999"`),
		"with a signature of nothing": changed(func(q *signature.Request) { q.Header.Set("Signature", "sig2=::") }),
		"with another label": changed(func(q *signature.Request) {
			q.Header.Set("Signature", strings.Replace(q.Header.Get("Signature"), "sig2", "sig1", 1))
		}),
		"with a header too long": changed(func(q *signature.Request) { q.Header.Add("Signature-Input", `x="`+strings.Repeat("1", 5000)+`"`) }),
		"with a signature that was changed": changed(func(q *signature.Request) {
			q.Header.Set("Signature", strings.Replace(q.Header.Get("Signature"), "sig2=:", "sig2=:AAAA", 1))
		}),
		"with another path": func() *signature.Request {
			q := signed(theBot, "\"@path\": /lamps\n"+lines, input(`"@path" `+both))
			q.Target = "/other?id=1"
			return q
		}(),
		"by a private key that is another's": func() *signature.Request {
			q, other := good(), ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
			q.Header.Set("Signature", "sig2=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(other, []byte(lines+`"@signature-params": `+input(both))))+":")
			return q
		}(),
	} {
		assert.False(t, agents("bot.example").Verified(q, now), name)
	}
	assert.False(t, agents("other.example").Verified(good(), now), "the agent does not count")
	assert.False(t, signature.Agents(nil).Verified(good(), now))
}

func TestRequestsWithoutTheHeaderCostNothing(t *testing.T) {
	q, known := &signature.Request{Header: http.Header{"User-Agent": {"Mozilla/5.0"}}}, agents("bot.example")
	assert.Zero(t, testing.AllocsPerRun(100, func() { known.Verified(q, now) }))
}

// FuzzVerified sends what strangers may send: only what was signed is verified.
func FuzzVerified(f *testing.F) {
	q := signed(theBot, lines, input(both))
	f.Add(theBot, q.Header.Get("Signature-Input"), q.Header.Get("Signature"), q.Host)
	f.Add(`bot=`+theBot, `sig1=("@authority" "signature-agent";key="bot" "x";bs);created=1;tag="web-bot-auth"`, `sig1=:AA==:`, "")
	f.Add("", `sig1=1`, "sig1=();a", "[::1]:80")
	f.Fuzz(func(t *testing.T, agent, input, made, host string) {
		is := agents("bot.example").Verified(&signature.Request{Method: http.MethodGet, Host: host, Target: "/lamps?id=1", Header: http.Header{
			"Signature-Agent": {agent}, "Signature-Input": {input}, "Signature": {made},
		}}, now)
		authority := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ":80")
		if is && authority != "shop.example" {
			t.Errorf("verified for %q by %q, %q, %q", host, agent, input, made)
		}
	})
}

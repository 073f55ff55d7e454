// Package signature knows agents that sign their requests: HTTP message signatures (RFC 9421) by
// the profile Web Bot Auth (draft-meunier-web-bot-auth-architecture), by Ed25519 keys that the agent
// publishes in a directory (draft-meunier-http-message-signatures-directory).
//
// A signature may be used again until it expires, for what it covers: it proves that an agent made
// such a request to the host, and not who sends this one. An agent signs for whose site it visits:
// a signature says something only where the host is one's own.
package signature

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

const (
	// ClockError is how wrong an agent's clock may be against the gate's, either way.
	ClockError = time.Minute
	// Longest is the time for which a signature may hold.
	Longest = time.Hour

	tag       = "web-bot-auth"
	maxLength = 4096 // bytes of a header that is read
)

// Directory returns the address at which an agent publishes its keys.
func Directory(host string) string {
	return "https://" + host + "/.well-known/http-message-signatures-directory"
}

// Request is what a signature may cover.
type Request struct {
	Method string
	Host   string // with its port, if it has one
	Target string // as it came on the wire
	Header http.Header
}

// Agents has the keys of the agents that count, by the hosts that their Signature-Agent names, in
// lower case.
type Agents map[string]func() []ed25519.PublicKey

// Verified reports whether a request is signed by one of the agents, and the signature covers at
// least @authority and Signature-Agent, and holds now.
func (a Agents) Verified(q *Request, now time.Time) bool {
	if len(a) == 0 || q.Header["Signature-Agent"] == nil {
		return false
	}
	for _, name := range [...]string{"Signature-Agent", "Signature-Input", "Signature"} {
		if len(strings.Join(q.Header[name], ", ")) > maxLength {
			return false
		}
	}
	inputs, err := httpsfv.UnmarshalDictionary(q.Header["Signature-Input"])
	if err != nil {
		return false
	}
	signatures, err := httpsfv.UnmarshalDictionary(q.Header["Signature"])
	if err != nil {
		return false
	}
	for _, label := range inputs.Names() {
		input, _ := inputs.Get(label)
		covered, ok := input.(httpsfv.InnerList)
		if !ok || text(covered.Params, "tag") != tag {
			continue
		}
		member, _ := signatures.Get(label)
		signed, _ := member.(httpsfv.Item)
		bytes, _ := signed.Value.([]byte)
		return a.verify(q, covered, bytes, now) // others beside the first of the profile do not count
	}
	return false
}

// verify reports whether a signature of what it says that it covers is an agent's.
func (a Agents) verify(q *Request, covered httpsfv.InnerList, signed []byte, now time.Time) bool {
	if !holds(covered.Params, now) {
		return false
	}
	base, agent, ok := baseOf(q, covered)
	keys := a[agent]
	if !ok || keys == nil {
		return false
	}
	id := text(covered.Params, "keyid")
	return slices.ContainsFunc(keys(), func(key ed25519.PublicKey) bool {
		return thumbprint(key) == id && ed25519.Verify(key, base, signed)
	})
}

// holds reports whether a signature with the parameters holds at a time, and is by Ed25519.
func holds(p *httpsfv.Params, now time.Time) bool {
	created, isCreated := instant(p, "created")
	expires, isExpiring := instant(p, "expires")
	algorithm, hasAlgorithm := p.Get("alg")
	return isCreated && isExpiring && (!hasAlgorithm || algorithm == "ed25519") &&
		!created.After(now.Add(ClockError)) && expires.After(now.Add(-ClockError)) && expires.After(created) &&
		expires.Sub(created) <= Longest
}

// baseOf returns what was signed (RFC 9421, section 2.5), and the host of the agent that it names.
// It is not ok if the request lacks what is covered, or something is covered that the gate does not
// know, or @authority or the agent is not.
func baseOf(q *Request, covered httpsfv.InnerList) (base []byte, agent string, ok bool) {
	var b strings.Builder
	seen := map[string]bool{}
	authority := false
	for _, item := range covered.Items {
		name, isText := item.Value.(string)
		identifier, err := httpsfv.Marshal(item)
		if !isText || err != nil || seen[identifier] {
			return nil, "", false
		}
		seen[identifier] = true
		value, known := component(q, name, item.Params)
		if !known || strings.ContainsAny(value, "\r\n") {
			return nil, "", false
		}
		authority = authority || name == "@authority"
		if name == "signature-agent" {
			if agent != "" {
				return nil, "", false
			}
			agent = hostIn(value)
		}
		b.WriteString(identifier + ": " + value + "\n")
	}
	params, err := httpsfv.Marshal(covered)
	b.WriteString(`"@signature-params": ` + params)
	return []byte(b.String()), agent, err == nil && authority && agent != ""
}

// component returns the value of a component of a request (RFC 9421, section 2). Of the parameters
// it knows the key of Signature-Agent alone.
func component(q *Request, name string, p *httpsfv.Params) (value string, ok bool) {
	if names := p.Names(); len(names) > 0 {
		if name != "signature-agent" || !slices.Equal(names, []string{"key"}) {
			return "", false
		}
		return memberOf(q.Header["Signature-Agent"], text(p, "key"))
	}
	path, query, _ := strings.Cut(q.Target, "?")
	switch name {
	case "@authority":
		host := strings.ToLower(q.Host)
		return strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80"), true
	case "@method":
		return q.Method, true
	case "@path":
		return path, strings.HasPrefix(path, "/")
	case "@query":
		return "?" + query, true
	}
	lines := q.Header[http.CanonicalHeaderKey(name)]
	if len(lines) == 0 || name != strings.ToLower(name) {
		return "", false
	}
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line)
	}
	return strings.Join(trimmed, ", "), true
}

// memberOf returns a member of a dictionary as it is serialised.
func memberOf(lines []string, key string) (value string, ok bool) {
	all, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return "", false
	}
	member, ok := all.Get(key)
	item, isItem := member.(httpsfv.Item)
	if !ok || !isItem {
		return "", false
	}
	value, err = httpsfv.Marshal(item)
	return value, err == nil
}

// hostIn returns the host of the https address that a value names; "" if it names none.
func hostIn(value string) string {
	item, err := httpsfv.UnmarshalItem([]string{value})
	if err != nil {
		return ""
	}
	address, _ := item.Value.(string)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}

// text returns a parameter that is a string; "" for none.
func text(p *httpsfv.Params, name string) string {
	value, _ := p.Get(name)
	s, _ := value.(string)
	return s
}

// instant returns a parameter that is a time in seconds.
func instant(p *httpsfv.Params, name string) (at time.Time, ok bool) {
	value, _ := p.Get(name)
	seconds, ok := value.(int64)
	return time.Unix(seconds, 0), ok
}

// thumbprint is the id of a key: its JWK thumbprint (RFC 7638 and RFC 8037, appendix A.3).
func thumbprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(key) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Package challengetest has a provider of challenges for tests.
package challengetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
)

// Secret is what the provider knows the site by.
const Secret = "the secret of the site"

// Provider gives answers to visitors, and tells the site whether they are right: each once. Its
// widget is a button that gives an answer.
type Provider struct {
	*httptest.Server
	mu    sync.Mutex
	given map[string]bool // whether an answer can still be used
	asked int
	reply http.HandlerFunc // instead of what it says of answers; nil for that
	other http.HandlerFunc // in place of its widget; nil for that
}

// New starts a provider.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{given: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/api.js", p.script)
	mux.HandleFunc("/siteverify", p.verify)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// Config is that of a room with the provider's challenge.
func (p *Provider) Config() challenge.Config {
	return challenge.Config{
		Provider: challenge.Other, SiteKey: "the-site", Secret: Secret,
		VerifyURL: p.URL + "/siteverify", ScriptURL: p.URL + "/api.js", WidgetClass: "test-widget",
	}
}

// Answer returns a right answer, as the widget gives it to a person.
func (p *Provider) Answer() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := fmt.Sprintf("answer-%d", len(p.given))
	p.given[answer] = true
	return answer
}

// Reply has the provider reply to the gate by h from now on, or, if that is nil, as it did at
// first.
func (p *Provider) Reply(h http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reply = h
}

// Scripts has the provider answer with h from now on where its widget is asked for, or, if that is nil,
// as it did at first.
func (p *Provider) Scripts(h http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.other = h
}

// Down is the reply of a provider that is down.
func Down(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusBadGateway) }

// Asked is how often it was asked whether an answer is right.
func (p *Provider) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// script is the widget's: it gives an answer to the func that data-callback names.
func (p *Provider) script(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	other := p.other
	p.mu.Unlock()
	if other != nil {
		other(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/javascript")
	_, _ = fmt.Fprintf(w, `const at = document.querySelector(".test-widget");
const button = at.appendChild(document.createElement("button"));
button.textContent = "I am a person, " + at.dataset.sitekey;
button.onclick = () => window[at.dataset.callback](%q);`, p.Answer())
}

// verify is what siteverify is at the providers.
func (p *Provider) verify(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked++
	other := p.reply
	p.mu.Unlock()
	if other != nil {
		other(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	reply := map[string]any{"success": false}
	switch answer := r.PostFormValue("response"); {
	case r.Method != http.MethodPost || r.PostFormValue("secret") != Secret:
		reply["error-codes"] = []string{"invalid-input-secret"}
	case !p.given[answer]:
		reply["error-codes"] = []string{"timeout-or-duplicate"}
	default:
		p.given[answer] = false
		reply = map[string]any{"success": true, "hostname": "shop.test"}
	}
	_ = json.NewEncoder(w).Encode(reply)
}

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
)

// site is the running example, and somebody with a browser.
type site struct {
	t *testing.T
	stage.Addresses
	browser *http.Client
}

// send sends a form, or asks for a page where there is none, and returns the page that comes of it.
func (s *site) send(address string, form url.Values) string {
	s.t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, body)
	require.NoError(s.t, err)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.browser.Do(r)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return string(text)
}

// link returns the link of a kind in the mails.
func (s *site) link(kind string) (address, token string) {
	s.t.Helper()
	text := stagetest.Text(s.t, http.DefaultClient, http.MethodGet, "http://"+s.Admin+"/api/v1/waitlists/early/outbox")
	var outbox struct {
		Mails []struct{ Text string }
	}
	require.NoError(s.t, json.Unmarshal([]byte(text), &outbox))
	for _, m := range outbox.Mails {
		if found := regexp.MustCompile(`http://\S+/` + kind + `\?token=(\S+)`).FindStringSubmatch(m.Text); found != nil {
			return found[0], found[1]
		}
	}
	require.Fail(s.t, "no mail with such a link", "%s in %s", kind, text)
	return "", ""
}

func TestSignUpConfirmAcceptAndBeIn(t *testing.T) {
	at := stagetest.Addresses(t)
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error { return run(ctx, out, at, "fairdoor.yaml") })
	s := &site{t: t, Addresses: at, browser: stagetest.Visitor(t)}
	gate := "http://" + at.Gate
	assert.NotContains(t, s.send(gate, nil), "Welcome to the shop")
	s.send(gate+"/.fairdoor/waitlist/early", url.Values{"email": {"ada@example.com"}})
	confirm, token := s.link("confirm")
	assert.Contains(t, s.send(confirm, nil), token)
	assert.Contains(t, s.send(confirm, url.Values{"token": {token}}), "?ref=", "the place shows one's own link")

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at.Admin+"/api/v1/waitlists/early/release", strings.NewReader(`{"count": 1}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)

	invite, token := s.link("invite")
	assert.Contains(t, s.send(invite, nil), token)
	assert.Contains(t, s.send(invite, url.Values{"token": {token}}), "Welcome to the shop")
	assert.Contains(t, s.send(gate, nil), "Welcome to the shop")
}

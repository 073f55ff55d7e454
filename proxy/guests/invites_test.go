package guests_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestWhoAcceptsAnInviteGoesOnToThePageThatTheyCameFor(t *testing.T) {
	p := startParty(t)
	ada := p.member("ada@example.com")
	require.Equal(t, 1, p.release(1))
	door := ada.Get("/sale?day=1")
	require.Equal(t, http.StatusOK, door.Status)
	a := ada.SendsForm(door)
	assert.Equal(t, "/sale?day=1", a.Header.Get("Location"))

	ben := p.member("ben@example.com")
	require.Equal(t, 1, p.release(1))
	list := ben.Get(listPath + "?to=" + url.QueryEscape("/sale?day=2#seats"))
	assert.Contains(t, list.Body, `action="`+listPath+`/invite?to=%2Fsale%3Fday%3D2%23seats"`)
	assert.Equal(t, "/sale?day=2#seats", ben.SendsForm(list).Header.Get("Location"))
	elsewhere := p.Visitor().Get(listPath + "?to=//evil.test")
	assert.NotContains(t, elsewhere.Body, "evil")

	signUp := p.Visitor()
	sent := signUp.SendsForm(signUp.Get("/sale?day=3"), "email", "cyd@example.com")
	assert.Contains(t, sent.Body, listPath+"?to=%2Fsale%3Fday%3D3")
}

func TestAnInviteThatWasAcceptedSaysSo(t *testing.T) {
	p := startParty(t)
	ada := p.member("ada@example.com")
	require.Equal(t, 1, p.release(1))
	invite := listPath + "/invite?token=" + p.token("ada@example.com", waitlist.MailInvite)
	require.Equal(t, http.StatusSeeOther, ada.PostForm(invite, nil).Status)
	for _, again := range []gatetest.Answer{ada.Get(invite), ada.PostForm(invite, nil)} {
		assert.Equal(t, http.StatusGone, again.Status)
		assert.Contains(t, again.Body, "You have accepted the invite")
		assert.Contains(t, again.Body, `<a class="button go" href="/">Enter now</a>`)
	}
	stranger := p.Visitor().Get(invite)
	assert.Equal(t, http.StatusGone, stranger.Status)
	assert.Contains(t, stranger.Body, "This invite was accepted already.")
	assert.NotContains(t, stranger.Body, "Enter now")
	assert.Equal(t, http.StatusGone, ada.Get(invite, gatetest.AsJSON).Status)
}

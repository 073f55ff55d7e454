package proxy_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/proxy/guests"
	"github.com/anteroom-gate/anteroom/proxy/guests/mail"
)

// withoutMailServer has mails go to a mail server that is down.
func withoutMailServer(t *testing.T) func(*guests.Config) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	port := l.Addr().(*net.TCPAddr).Port
	return func(c *guests.Config) {
		c.SMTP = &mail.SMTP{Host: "127.0.0.1", Port: port, TLS: mail.NoTLS, From: "hello@shop.test"}
	}
}

func TestAnInviteOutlastsAMailServerThatIsDown(t *testing.T) {
	p := startParty(t, direct, list(withoutMailServer(t)))
	ada := p.visitor()
	p.join(ada, map[string]string{"email": "ada@example.com"})
	require.Equal(t, 1, p.release(1))
	p.clock.add(5 * 24 * time.Hour)
	a := ada.get(listPath, asJSON)
	assert.Equal(t, "invited", p.entry(a).Status)
	assert.NotContains(t, a.body, "inviteExpiresAt", "the time has not begun")
	p.clock.add(2 * 24 * time.Hour)
	assert.Equal(t, "expired", p.entry(ada.get(listPath, asJSON)).Status)
}

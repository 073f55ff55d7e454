package mail_test

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	own "github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestTheLinksOfTheMailsLeadFromTheSignUpToTheInvite(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	settings := s.smtp(own.StartTLS)
	settings.ReplyTo = "help@acme.example"
	sender := w.sender(settings)
	w.join("ada@bücher.example")
	w.send(sender, 1, 0)

	confirm := s.letters()[0]
	assert.Equal(t, "hello@acme.example", confirm.from)
	assert.Equal(t, "ada@xn--bcher-kva.example", confirm.to)
	assert.True(t, confirm.encrypted)
	assert.Equal(t, "Acme & Söhne: Bitte bestätigen Sie Ihre Adresse", confirm.subject(t))
	assert.Contains(t, confirm.text, "2026-11-29 10:00 UTC")
	assert.Contains(t, confirm.html, "Acme &amp; Söhne")
	for name, want := range map[string]string{
		"From": `"Acme" <hello@acme.example>`, "Reply-To": "<help@acme.example>", "Auto-Submitted": "auto-generated",
		"Content-Language": "de-DE", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Date": "Sun, 22 Nov 2026 10:00:00 +0000",
	} {
		assert.Equal(t, want, confirm.header.Get(name), name)
	}
	_, err := w.Confirm(ctx, confirm.token(t, page+"/confirm", "token"), nil, w.now)
	require.NoError(t, err)

	w.send(sender, 1, 0)
	place := s.letters()[1]
	secret := place.token(t, page, "secret")
	entry, err := w.EntryBySecret(ctx, secret, w.now)
	require.NoError(t, err)
	assert.Equal(t, waitlist.Waiting, entry.Status)
	assert.Equal(t, "<"+page+"/leave?token="+secret+">", place.header.Get("List-Unsubscribe"))

	require.Equal(t, 1, must(w.Release(ctx, 1, "olga", w.now)))
	w.after(time.Hour)
	w.send(sender, 1, 0)
	invite := s.letters()[2]
	assert.Contains(t, invite.text, "2026-11-24 11:00 UTC", "the time of an invite begins when it is sent")
	assert.True(t, w.now.Add(48*time.Hour).Equal(must(w.Entry(ctx, entry.Number, w.now)).InviteExpiresAt))
	accepted, err := w.Accept(ctx, invite.token(t, page+"/invite", "token"), w.now)
	require.NoError(t, err)
	assert.Equal(t, waitlist.Accepted, accepted.Status)

	ids := map[string]bool{}
	for _, l := range s.letters() {
		id := l.header.Get("Message-Id")
		assert.Regexp(t, `^<[0-9a-f]{32}@acme\.example>$`, id)
		ids[id] = true
		assert.Regexp(t, `^<`+page+`/leave\?token=[\w-]+>$`, l.header.Get("List-Unsubscribe"))
		assert.Equal(t, "List-Unsubscribe=One-Click", l.header.Get("List-Unsubscribe-Post"))
	}
	assert.Len(t, ids, 3)
	w.send(sender, 0, 0)
}

func TestStrangersHoldBackNoMailByOtherSpellingsOfAnAddress(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	sender := w.sender(s.smtp(own.StartTLS))
	for i := range 20 {
		w.join(fmt.Sprintf("ada+%d@example.com", i))
	}
	w.send(sender, 2, 0)
	w.join("ada@example.com")
	w.send(sender, 1, 0)
	mine := s.letters()[2]
	assert.Equal(t, "ada@example.com", mine.to)
	place, err := w.Confirm(ctx, mine.token(t, page+"/confirm", "token"), nil, w.now)
	require.NoError(t, err)
	assert.Equal(t, waitlist.Waiting, place.Status)
	w.join("ada+99@example.com", "a.d.a@example.com")
	w.send(sender, 2, 0) // to the place, and to somebody else
}

func TestTheConnectionIsEncryptedAndAuthenticatedAsItIsConfigured(t *testing.T) {
	for _, way := range []own.TLS{own.StartTLS, own.ImplicitTLS, own.NoTLS} {
		for _, mechanism := range []string{"", sasl.Plain, sasl.Login} {
			t.Run(fmt.Sprintf("%s %s", way, mechanism), func(t *testing.T) {
				w := newWorld(t)
				s := newServer(t, way, func(s *server) { s.mechanism = mechanism })
				settings := s.smtp(way)
				if mechanism != "" {
					settings.Username, settings.Password = "gate", "secret"
				}
				w.join("ada@example.com")
				w.send(w.sender(settings), 1, 0)
				got := s.letters()[0]
				assert.Equal(t, []any{way != own.NoTLS, settings.Username}, []any{got.encrypted, got.user})
			})
		}
	}
}

func TestAServerThatIsNotWhatItHasToBeGetsNoMail(t *testing.T) {
	cases := map[string]struct {
		server own.TLS
		spoil  func(*own.SMTP)
		want   string
	}{
		"without STARTTLS":         {own.NoTLS, func(s *own.SMTP) { s.TLS = "" }, "STARTTLS"},
		"with a wrong certificate": {own.StartTLS, func(s *own.SMTP) { s.RootCAs = nil }, "certificate"},
		"with another name":        {own.ImplicitTLS, func(s *own.SMTP) { s.Host = "localhost" }, "not localhost"},
		"with another password":    {own.StartTLS, func(s *own.SMTP) { s.Username, s.Password = "gate", "wrong" }, "535"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := newServer(t, c.server, func(s *server) { s.mechanism = sasl.Plain })
			settings := s.smtp(c.server)
			c.spoil(&settings)
			w.join("ada@example.com")
			sent, failed, err := w.sender(settings).SendDue(ctx, w.List)
			assert.ErrorContains(t, err, c.want)
			assert.NotContains(t, fmt.Sprint(err), "wrong", "the password")
			assert.Zero(t, sent+failed)
			assert.Zero(t, s.attempts)
		})
	}
}

func TestAnAddressThatTakesNoMailDoesNotStopTheOthers(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS, func(s *server) {
		s.rcpt = func(to string) error {
			if strings.HasPrefix(to, "bob@") {
				return noSuchUser
			}
			return nil
		}
	})
	sender := w.sender(s.smtp(own.StartTLS))
	w.join("ada@example.com", "bob@example.com", "cem@example.com", "dee@example.com", "eva@example.com", "fay@example.com", "gil@example.com")
	w.send(sender, 6, 1)
	assert.EqualValues(t, 1, s.connections.Load(), "one connection for all")
	w.after(24 * time.Hour)
	w.send(sender, 0, 0)
	bob := must(w.Entries(ctx, waitlist.Search{Text: "bob@"})).Entries[0]
	assert.True(t, start.Equal(bob.BouncedAt), "the record knows")
	w.logsNothingOfPeople()
	require.Equal(t, 1, w.logs.Len())
	assert.Equal(t, map[string]any{"waitlist": "beta", "mails": int64(1), "dropped": int64(1), "code": int64(550), "enhancedCode": "5.1.1"},
		w.logs.All()[0].ContextMap())
}

// logsNothingOfPeople checks that no address and no token is in the log.
func (w *world) logsNothingOfPeople() {
	w.t.Helper()
	for _, l := range w.logs.All() {
		said := fmt.Sprint(l.Message, l.ContextMap())
		assert.NotContains(w.t, said, "example.com")
		for _, m := range must(w.Outbox(ctx, 0, 100)) {
			assert.NotContains(w.t, said, m.Token)
		}
	}
}

func TestWhatMayBeOurOwnFaultIsTriedForADay(t *testing.T) {
	for name, refusal := range map[string]*smtp.SMTPError{
		"relaying":  {Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "relay access denied to <ada@example.com>"},
		"no reason": {Code: 550, EnhancedCode: smtp.NoEnhancedCode, Message: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := newServer(t, own.StartTLS, func(s *server) { s.rcpt = func(string) error { return refusal } })
			sender := w.sender(s.smtp(own.StartTLS))
			w.join("ada@example.com")
			tried := 0
			for range 48 * 6 {
				_, failed, err := sender.SendDue(ctx, w.List)
				require.NoError(t, err)
				tried += failed
				w.after(10 * time.Minute)
			}
			assert.Equal(t, 12, tried)
			assert.NotZero(t, must(w.Entries(ctx, waitlist.Search{Text: "ada@"})).Entries[0].BouncedAt)
			w.logsNothingOfPeople()
		})
	}
}

func TestAMailThatIsPutOffIsSentLater(t *testing.T) {
	busy := &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 2, 0}, Message: "greylisted, come again"}
	w := newWorld(t)
	first := true
	s := newServer(t, own.StartTLS, func(s *server) {
		s.rcpt = func(string) error {
			if first {
				first = false
				return busy
			}
			return nil
		}
	})
	sender := w.sender(s.smtp(own.StartTLS))
	w.join("ada@example.com", "bob@example.com")
	w.send(sender, 1, 1)
	w.after(59 * time.Second)
	w.send(sender, 0, 0)
	w.after(time.Second)
	w.send(sender, 1, 0)
	assert.Zero(t, must(w.Entries(ctx, waitlist.Search{Text: "ada@"})).Entries[0].BouncedAt)
}

func TestAConnectionThatEndsInTheMiddleOfAMailIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS, func(s *server) {
		s.data = func(count int, c *smtp.Conn) error {
			if count == 2 {
				c.Conn().Close()
			}
			return nil
		}
	})
	w.join("ada@example.com", "bob@example.com", "cem@example.com")
	w.send(w.sender(s.smtp(own.StartTLS)), 3, 0)
	got := s.letters()
	require.Len(t, got, 4, "the server took the second, and could not say so")
	assert.Equal(t, got[1].header.Get("Message-Id"), got[2].header.Get("Message-Id"))
	assert.Equal(t, []int64{1, 1, 2, 2}, []int64{got[0].connection, got[1].connection, got[2].connection, got[3].connection})
}

func TestAMailThatAlwaysBreaksTheConnectionDoesNotStopTheOthers(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS, func(s *server) {
		s.rcpt = func(to string) error {
			if strings.HasPrefix(to, "bob@") {
				return &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "closing"}
			}
			return nil
		}
	})
	w.join("ada@example.com", "bob@example.com", "cem@example.com")
	w.send(w.sender(s.smtp(own.StartTLS)), 2, 1)
	assert.Len(t, s.letters(), 2)
}

// A server that refuses to begin with a mail is still at the one before.
func TestAServerThatIsInTheMiddleOfAMailIsMetAnew(t *testing.T) {
	w := newWorld(t)
	asked := 0
	s := newServer(t, own.StartTLS, func(s *server) {
		s.from = func(string) error {
			if asked++; asked == 2 {
				return &smtp.SMTPError{Code: 503, EnhancedCode: smtp.EnhancedCode{5, 5, 1}, Message: "nested MAIL"}
			}
			return nil
		}
	})
	w.join("ada@example.com", "bob@example.com")
	w.send(w.sender(s.smtp(own.StartTLS)), 2, 0)
	assert.EqualValues(t, 2, s.connections.Load())
}

func TestAServerThatSaysNothingIsNotWaitedForWithoutEnd(t *testing.T) {
	w := newWorld(t)
	hung := make(chan struct{})
	s := newServer(t, own.NoTLS, func(s *server) {
		s.data = func(count int, _ *smtp.Conn) error {
			if count == 1 {
				<-hung
			}
			return nil
		}
	})
	t.Cleanup(func() { close(hung) })
	sender := w.sender(s.smtp(own.NoTLS).WithPatience(time.Second))
	w.join("ada@example.com", "bob@example.com")
	require.Eventually(t, func() bool {
		_, _, _ = sender.SendDue(ctx, w.List) // a machine that is busy may be late, too
		w.after(10 * time.Minute)
		return len(s.letters()) >= 2
	}, time.Minute, time.Millisecond)
}

func TestAServerThatIsDownIsAskedAgainUntilItComesBack(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	s.down.Store(true)
	sender := w.sender(s.smtp(own.StartTLS))
	w.join("ada@example.com", "bob@example.com")
	asked := 0
	for range 3 * 60 {
		sent, failed, err := sender.SendDue(ctx, w.List)
		require.Zero(t, sent+failed)
		if err != nil {
			asked++
			assert.ErrorContains(t, err, "connecting to the mail server 127.0.0.1:")
		}
		w.after(time.Minute)
	}
	assert.InDelta(t, 3*60/5, asked, 5, "every five minutes")
	s.down.Store(false)
	w.after(5 * time.Minute)
	w.send(sender, 2, 0)
	assert.Len(t, s.letters(), 2)
	w.join("cem@example.com")
	w.send(sender, 1, 0)
}

func TestAServerThatGoesDownInTheMiddleKeepsNoMail(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS, func(s *server) {
		s.data = func(count int, c *smtp.Conn) error {
			if count == 2 {
				s.down.Store(true)
				c.Conn().Close()
			}
			return nil
		}
	})
	sender := w.sender(s.smtp(own.StartTLS))
	w.join("ada@example.com", "bob@example.com", "cem@example.com")
	sent, failed, err := sender.SendDue(ctx, w.List)
	assert.Error(t, err)
	assert.Equal(t, []int{1, 1}, []int{sent, failed}, "the third was not tried")
	s.down.Store(false)
	w.after(10 * time.Second)
	w.send(sender, 1, 0)
	w.after(50 * time.Second)
	w.send(sender, 1, 0)
}

// The policy of a server counts once for each time that it was asked, and an outage does not count.
func TestAMailThatWasNotTriedHasNoAttemptMore(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	s.from = func(string) error {
		return &smtp.SMTPError{Code: 553, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "not yours"}
	}
	sender := w.sender(s.smtp(own.StartTLS))
	w.join("ada@example.com", "bob@example.com", "cem@example.com")
	_, _, err := sender.SendDue(ctx, w.List)
	require.Error(t, err)
	var attempts []int
	for _, m := range must(w.Lease(ctx, 10, time.Minute, w.now)) {
		attempts = append(attempts, m.Attempts)
	}
	assert.Equal(t, []int{1, 1}, attempts, "those of bob and cem are due, and this is their first attempt")
}

func TestWhoIsErasedWhileMailsAreSentGetsNone(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	s.data = func(count int, _ *smtp.Conn) error {
		if count == 1 {
			bob := must(w.Entries(ctx, waitlist.Search{Text: "bob@"})).Entries[0]
			return w.Remove(ctx, bob.Number, "olga", w.now)
		}
		return nil
	}
	w.join("ada@example.com", "bob@example.com", "cem@example.com")
	w.send(w.sender(s.smtp(own.StartTLS)), 2, 0)
	got := s.letters()
	require.Len(t, got, 2)
	assert.Equal(t, []string{"ada@example.com", "cem@example.com"}, []string{got[0].to, got[1].to})
}

func TestAServerThatRefusesTheSenderIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	asked := 0
	s.from = func(string) error {
		asked++
		return &smtp.SMTPError{Code: 553, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "not yours"}
	}
	w.join("ada@example.com", "bob@example.com")
	_, failed, err := w.sender(s.smtp(own.StartTLS)).SendDue(ctx, w.List)
	assert.ErrorContains(t, err, "refuses mails from hello@acme.example: 553 5.7.1")
	assert.Equal(t, []int{1, 1}, []int{asked, failed})
	assert.Zero(t, must(w.Entries(ctx, waitlist.Search{Text: "ada@"})).Entries[0].BouncedAt)
}

func TestSendingEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	ending, end := context.WithCancel(ctx)
	s.data = func(int, *smtp.Conn) error { end(); return nil }
	w.join("ada@example.com", "bob@example.com")
	sent, failed, err := w.sender(s.smtp(own.StartTLS)).SendDue(ending, w.List)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 0}, []int{sent, failed}, "the mail under way is finished, and noted")
	assert.Len(t, must(w.Outbox(ctx, 0, 10)), 1)
}

func TestNoHeaderCanBePutInByNameOrAddress(t *testing.T) {
	w := newWorld(t)
	s := newServer(t, own.StartTLS)
	settings := s.smtp(own.StartTLS)
	settings.From = "hello@acme.example"
	w.join("ada@example.com")
	w.send(w.sender(settings, func(o *own.Options) {
		o.Identity = templates.Identity{SiteName: "Acme\r\nBcc: eve@example.com\r\n\r\n<b>Hi</b>"}
	}), 1, 0)
	got := s.letters()[0]
	assert.Empty(t, got.header["Bcc"])
	assert.Contains(t, got.subject(t), "Acme Bcc: eve@example.com <b>Hi</b>: ")
	from, err := mail.ParseAddress(got.header.Get("From"))
	require.NoError(t, err)
	assert.Equal(t, "hello@acme.example", from.Address)
	assert.NotContains(t, got.html, "<b>Hi</b>")

	for _, bad := range []string{"a@x.org\r\nBcc: b@x.org", "a@x.org>\r\nRCPT TO:<b@x.org"} {
		_, err := own.NewSender(own.SMTP{Host: "mail", From: bad}, composer(t), nil, w.clock)
		assert.ErrorContains(t, err, "from: ")
		_, err = w.Join(ctx, waitlist.SignUp{Email: bad}, w.now)
		assert.ErrorIs(t, err, waitlist.ErrEmail)
	}
}

func TestSettingsThatCannotWorkAreRefusedTogether(t *testing.T) {
	_, err := own.NewSender(own.SMTP{Port: -1, Password: "x", TLS: "ssl", From: "hello", ReplyTo: "a b"}, composer(t), nil, nil)
	require.Error(t, err)
	assert.Equal(t, []string{
		"host: the mail server is not named", "port: -1 is none", `tls: "ssl" is none of starttls, implicit, none`,
		"username: there is a password and no name", `from: "hello" is not an address such as Acme <hello@acme.example>`, `reply_to: "a b" is not an address`,
	}, strings.Split(err.Error(), "\n"))
	assert.NoError(t, own.SMTP{Host: "mail", From: "Acme <hello@acme.example>"}.Validate())
}

package mail_test

import (
	"context"
	"net/url"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

var (
	ctx   = context.Background()
	start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
)

const (
	home = "https://shop.example.com"
	page = home + "/.fairdoor/waitlist/beta"
)

func options(change ...func(*mail.Options)) mail.Options {
	o := mail.Options{List: "beta", Home: home, Path: page, Identity: templates.Identity{SiteName: "Acme & Söhne"}}
	for _, c := range change {
		c(&o)
	}
	return o
}

func composer(t testing.TB, change ...func(*mail.Options)) *mail.Composer {
	t.Helper()
	c, err := mail.NewComposer(options(change...))
	require.NoError(t, err)
	return c
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// codes are all languages.
func codes() []string { return must(templates.LanguageCodes()) }

// world is a waitlist, a clock, and the log of those who send.
type world struct {
	t testing.TB
	*waitlist.List
	now  time.Time
	logs *observer.ObservedLogs
}

// open opens a waitlist in an SQLite file.
func open(t testing.TB, file string) *world {
	t.Helper()
	store, err := waitlist.Open(ctx, file)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	l, err := store.List(ctx, "beta", waitlist.DefaultSettings())
	require.NoError(t, err)
	return &world{t: t, List: l, now: start}
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "waitlists.db"))
}

func (w *world) clock() time.Time      { return w.now }
func (w *world) after(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) sender(s mail.SMTP, change ...func(*mail.Options)) *mail.Sender {
	w.t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	w.logs = logs
	sender, err := mail.NewSender(s, composer(w.t, change...), zap.New(core), w.clock)
	require.NoError(w.t, err)
	return sender
}

// join signs people up, who have to confirm.
func (w *world) join(addresses ...string) {
	w.t.Helper()
	for _, a := range addresses {
		_, err := w.Join(ctx, waitlist.SignUp{Email: a, Language: "de-DE"}, w.now)
		require.NoError(w.t, err)
	}
}

// send sends what is due and checks how many were sent and have failed.
func (w *world) send(s *mail.Sender, sent, failed int) {
	w.t.Helper()
	gotSent, gotFailed, err := s.SendDue(ctx, w.List)
	require.NoError(w.t, err)
	assert.Equal(w.t, []int{sent, failed}, []int{gotSent, gotFailed}, "sent and failed")
}

var linkInText = regexp.MustCompile(`(?m)^https://\S+$`)

// token follows the link of a mail and returns what is after ? under a name.
func (l letter) token(t testing.TB, address, name string) string {
	t.Helper()
	links := linkInText.FindAllString(l.text, -1)
	require.NotEmpty(t, links, l.text)
	u, err := url.Parse(links[0])
	require.NoError(t, err)
	token := u.Query().Get(name)
	require.NotEmpty(t, token)
	u.RawQuery = ""
	assert.Equal(t, address, u.String())
	assert.Contains(t, l.html, `href="`+links[0]+`"`)
	return token
}

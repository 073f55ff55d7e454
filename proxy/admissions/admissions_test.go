package admissions_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// keeping has a gate keep the log in a directory.
func keeping(dir string) func(*proxy.Config, *proxy.Options) {
	return func(_ *proxy.Config, o *proxy.Options) { o.Admissions, o.StateDir = 30*24*time.Hour, dir }
}

// forAnHour has a gate keep less.
func forAnHour(_ *proxy.Config, o *proxy.Options) { o.Admissions = time.Hour }

// start starts a gate whose check-ins are due after 20 s.
func start(t *testing.T, dir string, more ...func(*proxy.Config, *proxy.Options)) *gatetest.Fixture {
	t.Helper()
	return gatetest.Start(t, append([]func(*proxy.Config, *proxy.Options){keeping(dir), gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter = 0 })}, more...)...)
}

// found are the visitors whom a search finds.
func found(f *gatetest.Fixture, q string) []admin.FoundVisitor {
	f.T.Helper()
	var found admin.FoundJSON
	require.Equal(f.T, http.StatusOK, f.API(http.MethodGet, "/api/v1/visitors?q="+q, "", &found).Status)
	return found.Visitors
}

// story is that of the one visitor with a code, once it has a text: what is told of visitors is
// written when they have their answers.
func story(f *gatetest.Fixture, code, has string) (status, text string) {
	f.T.Helper()
	f.Soon(func() bool {
		list := found(f, code)
		if len(list) != 1 {
			return false
		}
		status, text = list[0].Status, ""
		for _, s := range list[0].Story {
			text += s.Text
			if !s.At.IsZero() {
				text += " " + s.At.UTC().Format(time.TimeOnly)
			}
			text += "\n"
		}
		return strings.Contains(text, has)
	})
	return status, text
}

// codeOf is the support code that the page of somebody who waits shows. It is a check-in.
func codeOf(v *gatetest.Visitor) string {
	return v.Get("/", gatetest.AsJSON).Told("supportCode").(string)
}

func TestTheStoryOfAVisitorWhoWaitedAndGotIn(t *testing.T) {
	f := start(t, t.TempDir(), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()[0]
	v := f.Waits()
	code := codeOf(v)
	f.Pass(20 * time.Second)
	require.False(t, v.Get("/").In())
	in.Leaves()
	f.Pass(20 * time.Second)
	require.True(t, v.Get("/").In())
	status, text := story(f, code, "let in")
	assert.Equal(t, "active", status)
	came, after, _ := strings.Cut(text, "They asked 3 times, and were told ")
	assert.Contains(t, came, "They came 15:54:12\nThey were told: Nobody is ahead of them, and")
	assert.Contains(t, came, "Every slot is taken")
	assert.Contains(t, after, "the same at last 15:54:32\nThey were let in, after 40s 15:54:52\n")
	assert.Equal(t, 1, strings.Count(text, "let in"))

	f.Pass(24 * time.Hour)
	status, text = story(f, code, "session ended")
	assert.Equal(t, "gone", status)
	assert.Contains(t, text, "They were let in, after 40s 15:54:52\nThey asked for nothing more, and their session ended ")
	assert.Empty(t, found(f, "0000-0000"))
}

func TestWhoAsksNoLongerIsFoundAllTheSame(t *testing.T) {
	f := start(t, t.TempDir())
	v := f.Waiter()
	code := codeOf(v)
	f.Pass(5 * time.Minute)
	status, text := story(f, code, "asked no longer")
	assert.Equal(t, "gone", status)
	assert.Contains(t, text, "They asked 2 times, and were told the same at last 15:54:12\nThen they asked no longer")
	require.False(t, v.Get("/").In())
	status, text = story(f, code, "a place of theirs")
	assert.Equal(t, "waiting", status)
	assert.Contains(t, text, "They had got that place 15:54:1")
}

func TestWhatWasToldAtLastIsThereIfItIsNotTheSame(t *testing.T) {
	f := start(t, t.TempDir(), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()
	first, v := f.Waits(), f.Waits()
	f.Pass(20 * time.Second)
	code := codeOf(v)
	require.False(t, first.Get("/").In())
	in[0].Leaves()
	f.Pass(20 * time.Second)
	require.True(t, first.Get("/").In())
	require.False(t, v.Get("/").In())
	_, text := story(f, code, "They asked 3 times, last 15:54:52")
	assert.Equal(t, 1, strings.Count(text, "Their page says"), text)
	assert.NotContains(t, text, "at last", "how they stand now is told once")
	f.Pass(5 * time.Minute)
	story(f, code, "They asked 3 times, and were told at last: 1 person is ahead of them, and they wait about 1 min, 15:54:52")
}

func TestWhatHappensAgainAndAgainIsToldOnce(t *testing.T) {
	f := start(t, t.TempDir())
	v := f.Waiter()
	code := codeOf(v)
	for range 4 {
		f.Pass(20 * time.Minute)
		require.True(t, v.Get("/").In())
	}
	f.Pass(20 * time.Minute)
	_, text := story(f, code, "The same happened 2 times more, at last ")
	assert.Equal(t, 1, strings.Count(text, "They were let in 16:34:12"), text)
}

// enters has a visitor get in who waits, and returns their code.
func enters(f *gatetest.Fixture) (v *gatetest.Visitor, code string) {
	f.T.Helper()
	in := f.Full()
	v = f.Waits()
	code = codeOf(v)
	in[0].Leaves()
	f.Pass(20 * time.Second)
	require.True(f.T, v.Get("/").In())
	return v, code
}

func TestSomebodyIsFoundOfWhomNothingIsKeptAnyMore(t *testing.T) {
	f := start(t, t.TempDir(), forAnHour, gatetest.Room(gatetest.RevokeEnabled))
	v, code := enters(f)
	for range 50 {
		f.Pass(2 * time.Minute)
		require.True(t, v.Get("/").In())
	}
	status, _ := story(f, code, "They were let in")
	assert.Equal(t, "active", status)
}

func TestWhoIsHeldIsStillThere(t *testing.T) {
	f := start(t, t.TempDir(), gatetest.Room(gatetest.RevokeEnabled))
	v, code := enters(f)
	f.Patch(`{"hold_active": "now"}`)
	f.Pass(time.Hour)
	status, text := story(f, code, "They were let in")
	assert.Equal(t, "active", status)
	assert.NotContains(t, text, "session ended")
	f.Patch(`{"hold_active": "off"}`)
	f.Pass(time.Second)
	require.True(t, v.Get("/").In())
}

func TestTheLogOutlivesTheGate(t *testing.T) {
	dir := t.TempDir()
	f := start(t, dir)
	v := f.Waiter()
	code := codeOf(v)
	f.Pass(20 * time.Second)
	v.Get("/")
	f.Close()
	again := start(t, dir)
	_, text := story(again, strings.ToLower(code), "They asked 3 times, and were told the same at last")
	assert.Contains(t, text, "They came 15:54:12")
	again.Pass(31 * 24 * time.Hour)
	assert.Empty(t, found(again, code), "it is kept for so long, and no longer")
}

func TestWhatHappensAfterTheGateHasClosedIsInTheLog(t *testing.T) {
	dir := t.TempDir()
	f := start(t, dir, gatetest.Room(gatetest.RevokeEnabled))
	v, code := enters(f)
	begun, closed := make(chan struct{}), make(chan struct{})
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-closed
		w.Header().Set("Fairdoor-Command", "revoke")
	})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		v.Get("/")
	}()
	<-begun
	f.Gate.Close()
	close(closed)
	<-answered
	_, text := story(start(t, dir), code, "The site ended their session")
	assert.Contains(t, text, "They were let in")
}

func TestWhyAStoryEnds(t *testing.T) {
	f := start(t, t.TempDir(), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()[0]
	v, gaveUp := f.Waits(), f.Waits()
	code, other := codeOf(v), codeOf(gaveUp)
	gaveUp.PostForm("/.fairdoor/quit?room=shop", nil)
	f.Pass(5 * time.Minute)
	_, text := story(f, other, "gave up their place")
	assert.Contains(t, text, "gave up their place 15:54:12")

	in.Leaves()
	f.Pass(time.Second)
	require.True(t, v.Get("/").In())
	require.Equal(t, http.StatusNoContent, f.API(http.MethodDelete, "/api/v1/rooms/shop/visitors/code:"+code, "", nil).Status)
	story(f, code, "Operators ended their session")

	v = f.Visitor()
	require.True(t, v.Get("/").In())
	waits := f.Waits()
	code = codeOf(waits)
	f.Patch(`{"queueing_method": "reject"}`)
	f.Pass(20 * time.Second)
	for range 3 {
		require.False(t, waits.Get("/").In())
	}
	_, text = story(f, code, "turned away")
	assert.Contains(t, text, "The room takes nobody")
	assert.Equal(t, 1, strings.Count(text, "They were turned away"))
}

func TestALoadedPageIsNoGoodbye(t *testing.T) {
	f := start(t, t.TempDir())
	v := f.Waiter()
	code := codeOf(v)
	v.Send(http.MethodPost, "/.fairdoor/leave", nil)
	v.Get("/")
	f.Pass(3 * time.Minute)
	_, text := story(f, code, "asked no longer")
	assert.NotContains(t, text, "goodbye")
}

func TestNothingIsKeptUnlessItIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.StateDir = dir })
	code := codeOf(f.Waiter())
	f.Pass(5 * time.Minute)
	assert.Empty(t, found(f, code))
	_, err := os.Stat(filepath.Join(dir, "admissions"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestTheDashboardTellsTheStory(t *testing.T) {
	f := start(t, t.TempDir())
	code := codeOf(f.Waiter())
	f.Pass(5 * time.Minute)
	story(f, code, "asked no longer")
	page := f.API(http.MethodGet, "/rooms/shop/visitors/"+code, "", nil).Body
	assert.Contains(t, page, "asked no longer")
	assert.Contains(t, page, "Let them in next")
	assert.NotContains(t, page, "does not know where they are")
}

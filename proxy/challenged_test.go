package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge/challengetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// challenging has the first room's visitors pass a provider's challenge.
func challenging(p *challengetest.Provider, changes ...func(*challenge.Config)) func(*proxy.Config, *proxy.Options) {
	return room(func(r *proxy.RoomConfig) {
		c := p.Config()
		for _, change := range changes {
			change(&c)
		}
		r.Options = r.Options.With(c)
	})
}

// answers sends an answer to the challenge.
func (v *visitor) answers(answer string, changes ...func(*http.Request)) answer {
	v.f.t.Helper()
	changes = append(changes, with("Content-Type", "application/x-www-form-urlencoded"), asJSON)
	return v.send(http.MethodPost, "/.fairdoor/challenge?room=shop", strings.NewReader(url.Values{"response": {answer}}.Encode()), changes...)
}

func TestAPlaceIsForThoseWhoPassTheChallenge(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			p := challengetest.New(t)
			f := start(t, challenging(p), settings(func(s *queue.Settings) { s.Method = method }))
			member := f.full()[0]
			assert.Zero(t, p.Asked(), "who need not wait is not asked")

			person := f.visitor()
			a := person.get("/sale?x=1")
			assert.Equal(t, http.StatusOK, a.status)
			assert.Contains(t, a.body, `class="test-widget" data-sitekey="the-site"`)
			assert.Contains(t, a.body, `data-address="/sale?x=1"`)
			policy := a.header.Get("Content-Security-Policy")
			assert.Contains(t, policy, "frame-src "+p.URL)
			assert.Regexp(t, `script-src 'sha256-[^;]* `+p.URL+`;`, policy)
			assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
			assert.Empty(t, a.setCookies())
			f.pass(time.Second)
			assert.Zero(t, f.status("shop").Queued)

			for _, wrong := range []string{"", "made up", strings.Repeat("x", 10000)} {
				assert.Equal(t, http.StatusForbidden, person.answers(wrong).status)
			}
			right := p.Answer()
			a = person.answers(right)
			require.Equal(t, http.StatusOK, a.status)
			assert.Contains(t, a.body, `"waiting"`)
			require.Len(t, a.setCookies(), 1)
			a = person.get("/sale?x=1")
			assert.NotContains(t, a.body, "test-widget")
			assert.NotContains(t, a.header.Get("Content-Security-Policy"), p.URL, "only the page with the widget may load it")
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Queued)

			other := f.visitor()
			assert.Equal(t, http.StatusForbidden, other.answers(right).status, "an answer works once")
			assert.Contains(t, other.get("/").body, "test-widget")
			assert.True(t, member.get("/").in())
			metrics := f.api(http.MethodGet, "/metrics", "", nil).body
			assert.Contains(t, metrics, `fairdoor_challenges_total{outcome="passed",room="shop"} 1`)
			assert.Contains(t, metrics, `fairdoor_challenges_total{outcome="failed",room="shop"} 4`)
			assert.Contains(t, metrics, `fairdoor_decisions_total{outcome="challenged",room="shop"} 2`)
		})
	}
}

// One right answer is one place, however many bring the cookie that it was given for, now or when the place is over.
func TestOneAnswerIsOnePlace(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, challenging(p), settings(func(s *queue.Settings) { s.QueueTicketTTL, s.SessionDuration = time.Minute, time.Hour }))
	f.full()
	person := f.visitor()
	require.Equal(t, http.StatusOK, person.answers(p.Answer()).status)
	var same []*visitor
	for range 20 {
		same = append(same, person.twin())
	}
	ask := func() (challenged int) {
		for _, v := range same {
			if strings.Contains(v.twin().get("/").body, "test-widget") {
				challenged++
			}
		}
		f.pass(time.Second)
		return challenged
	}
	assert.Zero(t, ask())
	assert.Equal(t, 1, f.status("shop").Queued)
	f.pass(10 * time.Minute)
	assert.Equal(t, 20, ask(), "the place is over for all of them")
	assert.Zero(t, f.status("shop").Queued)
	assert.Zero(t, func() (n int) { // nor does any other way lead to one
		for _, v := range same {
			n += strings.Count(v.get("/.fairdoor/session?renew=1").body, `"waiting"`)
		}
		f.pass(time.Second)
		return n * f.status("shop").Queued
	}())
}

func TestAnAnswerThatComesTwiceAtOnceIsOnePlace(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, challenging(p))
	f.full()
	right, placed := p.Answer(), make(chan bool, 20)
	var all sync.WaitGroup
	for range cap(placed) {
		v := f.visitor()
		all.Go(func() { placed <- v.answers(right).status == http.StatusOK })
	}
	all.Wait()
	close(placed)
	n := 0
	for ok := range placed {
		if ok {
			n++
		}
	}
	assert.Equal(t, 1, n)
}

func TestProgramsAreToldWhatTheChallengeIs(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, challenging(p))
	f.full()
	v := f.visitor()
	for name, a := range map[string]answer{
		"GET":  v.get("/", asJSON),
		"POST": v.send(http.MethodPost, "/buy", strings.NewReader("a=b"), with("Accept", "*/*")),
	} {
		assert.Equal(t, http.StatusForbidden, a.status, name)
		assert.JSONEq(t, `{"cfWaitingRoom":{"inWaitingRoom":false,"challengeRequired":true,"challenge":{"siteKey":"the-site","scriptUrl":"`+p.URL+
			`/api.js","widgetClass":"test-widget","answerTo":"/.fairdoor/challenge?room=shop"}}}`, a.body, name)
	}
	form := v.send(http.MethodPost, "/buy", strings.NewReader("a=b"))
	assert.Equal(t, http.StatusTooManyRequests, form.status)
	assert.Contains(t, form.body, "test-widget")
	a := v.send(http.MethodPost, "/.fairdoor/challenge?room=shop", strings.NewReader(`{"response":"`+p.Answer()+`"}`), with("Content-Type", "application/json"))
	require.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, true, v.get("/", asJSON).told("inWaitingRoom"))
	for name, status := range map[string]int{
		"/.fairdoor/challenge": http.StatusNotFound, "/.fairdoor/challenge?room=none": http.StatusNotFound,
	} {
		assert.Equal(t, status, v.send(http.MethodPost, name, nil).status, name)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, v.get("/.fairdoor/challenge?room=shop").status)
	assert.Equal(t, http.StatusBadRequest, v.send(http.MethodPost, "/.fairdoor/challenge?room=shop", nil, with("Sec-Fetch-Site", "cross-site")).status)
}

func TestWhileTheProviderIsSilentTheRoomsChoiceCounts(t *testing.T) {
	for choice, status := range map[challenge.Unreachable]int{"": http.StatusOK, challenge.Join: http.StatusOK, challenge.Refuse: http.StatusServiceUnavailable} {
		for name, breaks := range map[string]func(*challengetest.Provider, *fixture){
			"it answers with an error": func(p *challengetest.Provider, _ *fixture) { p.Reply(challengetest.Down) },
			"it is gone":               func(p *challengetest.Provider, _ *fixture) { p.Close() },
		} {
			p := challengetest.New(t)
			f := start(t, challenging(p, func(c *challenge.Config) { c.OnUnreachable = choice }))
			f.full()
			breaks(p, f)
			v := f.visitor()
			assert.Equal(t, status, v.answers("some answer").status, "%s %s", choice, name)
			assert.Equal(t, status != http.StatusOK, strings.Contains(v.get("/").body, "test-widget"))
			assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_challenges_total{outcome="unreachable",room="shop"} 1`)
		}
	}
}

func TestUsersOfTheSiteAreNotChallenged(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, challenging(p), trustingLoopback, room(func(r *proxy.RoomConfig) { r.Subject.Header = "X-User-Id" }))
	f.full()
	assert.Equal(t, true, f.visitor().get("/", asJSON, with("X-User-Id", "ann")).told("inWaitingRoom"))
	assert.Contains(t, f.visitor().get("/").body, "test-widget")
}

// Whatever a provider says of what a visitor has sent, it is no reason to let them join without an answer.
func TestNothingThatAVisitorSendsMakesTheProviderUnavailable(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, challenging(p))
	f.full()
	replies := func(status int, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		reply  http.HandlerFunc
		status int
	}{
		"a malformed answer":        {replies(200, `{"success":false,"error-codes":["bad-request"]}`), http.StatusForbidden},
		"an answer that is no text": {replies(400, `{"success":false,"error-codes":["internal-error"]}`), http.StatusForbidden},
		"an answer of another site": {replies(200, `{"success":false,"error-codes":["sitekey-secret-mismatch"]}`), http.StatusForbidden},
		"a long answer":             {replies(413, ""), http.StatusForbidden},
		"many answers":              {replies(429, "<h1>Slow down</h1>"), http.StatusForbidden},
		"a page":                    {replies(200, "<h1>Blocked</h1>"), http.StatusForbidden},
		"a wrong secret":            {replies(400, `{"success":false,"error-codes":["invalid-input-secret"]}`), http.StatusOK},
		"a fault":                   {replies(500, `{"success":false}`), http.StatusOK},
	} {
		p.Reply(c.reply)
		a := f.visitor().answers("some answer")
		assert.Equal(t, c.status, a.status, name)
		assert.Equal(t, c.status == http.StatusOK, len(a.setCookies()) == 1, name)
	}
}

func TestAVisitorWhoHangsUpGetsNoPlace(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, challenging(p))
	f.full()
	asked := make(chan struct{})
	p.Reply(func(_ http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm() // a server notices who hangs up once it has read the request
		close(asked)
		<-r.Context().Done() // the gate does not wait for the reply any more
	})
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-asked
		hangUp()
	}()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, f.public.URL+"/.fairdoor/challenge?room=shop", strings.NewReader("response=some+answer"))
	require.NoError(t, err)
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := f.public.Client().Do(q)
	if err == nil {
		resp.Body.Close()
	}
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool {
		return strings.Contains(f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_challenges_total{outcome="failed",room="shop"} 1`)
	}, patience, time.Millisecond)
	f.pass(time.Second)
	assert.Zero(t, f.status("shop").Queued)
}

func TestAnswersOfOneSiteLeaveOthersRoom(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, trustingLoopback, challenging(p))
	f.full()
	done := make(chan struct{})
	p.Reply(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("response") == "made up" {
			<-done
		}
		_, _ = w.Write([]byte(`{"success": true}`))
	})
	answers := func(from, text string) answer { return f.visitor().answers(text, at(from)) }
	var all sync.WaitGroup
	for i := range 100 { // each from a network of its own
		all.Go(func() { answers(fmt.Sprintf("2001:db8:0:%x00::1", i), "made up") })
	}
	require.Eventually(t, func() bool { return p.Asked() >= 32 }, patience, time.Millisecond)
	assert.Equal(t, http.StatusOK, answers("2001:db8:1::1", "right").status)
	assert.LessOrEqual(t, p.Asked(), 33, "half of what is verified at a time is the others'")
	close(done)
	all.Wait()
}

func TestAProviderThatIsSilentIsLoggedOnce(t *testing.T) {
	p := challengetest.New(t)
	core, logged := observer.New(zap.InfoLevel)
	f := start(t, challenging(p), func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	f.full()
	for range 2 {
		p.Reply(challengetest.Down)
		for range 3 {
			f.visitor().answers("some answer")
		}
		p.Reply(nil)
		for range 2 {
			require.Equal(t, http.StatusForbidden, f.visitor().answers("made up").status)
			require.Equal(t, http.StatusOK, f.visitor().answers(p.Answer()).status)
		}
	}
	assert.Equal(t, 2, logged.FilterMessage("answers to the challenge cannot be verified").Len())
	assert.Equal(t, 2, logged.FilterMessage("answers to the challenge are verified again").Len())
}

func TestAnswersAreTakenOnTheRoomsHosts(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, challenging(p), room(func(r *proxy.RoomConfig) { r.Routes[0].Host = "shop.test" }))
	v := f.visitor()
	v.host = "other.test"
	a := v.answers(p.Answer())
	assert.Equal(t, http.StatusNotFound, a.status)
	assert.Empty(t, a.setCookies())
	v.host = "shop.test"
	assert.Equal(t, http.StatusOK, v.answers(p.Answer()).status)
}

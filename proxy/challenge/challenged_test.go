package challenge_test

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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// answers sends an answer to the challenge.
func answers(v *gatetest.Visitor, answer string, changes ...func(*http.Request)) gatetest.Answer {
	v.Fixture.T.Helper()
	changes = append(changes, gatetest.With("Content-Type", "application/x-www-form-urlencoded"), gatetest.AsJSON)
	return v.Send(http.MethodPost, "/.fairdoor/challenge?room=shop", strings.NewReader(url.Values{"response": {answer}}.Encode()), changes...)
}

func TestAPlaceIsForThoseWhoPassTheChallenge(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			p := challengetest.New(t)
			f := gatetest.Start(t, gatetest.Challenging(p), gatetest.Settings(func(s *queue.Settings) { s.Method = method }))
			member := f.Full()[0]
			assert.Zero(t, p.Asked(), "who need not wait is not asked")

			person := f.Visitor()
			a := person.Get("/sale?x=1")
			assert.Equal(t, http.StatusOK, a.Status)
			assert.Contains(t, a.Body, `class="test-widget" data-sitekey="the-site"`)
			assert.Contains(t, a.Body, `data-address="/sale?x=1"`)
			policy := a.Header.Get("Content-Security-Policy")
			assert.Contains(t, policy, "frame-src "+p.URL)
			assert.Regexp(t, `script-src 'sha256-[^;]* `+p.URL+`;`, policy)
			assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			assert.Empty(t, a.SetCookies())
			f.Pass(time.Second)
			assert.Zero(t, f.Status("shop").Queued)

			for _, wrong := range []string{"", "made up", strings.Repeat("x", 10000)} {
				assert.Equal(t, http.StatusForbidden, answers(person, wrong).Status)
			}
			right := p.Answer()
			a = answers(person, right)
			require.Equal(t, http.StatusOK, a.Status)
			assert.Contains(t, a.Body, `"waiting"`)
			require.Len(t, a.SetCookies(), 1)
			a = person.Get("/sale?x=1")
			assert.NotContains(t, a.Body, "test-widget")
			assert.NotContains(t, a.Header.Get("Content-Security-Policy"), p.URL, "only the page with the widget may load it")
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Queued)

			other := f.Visitor()
			assert.Equal(t, http.StatusForbidden, answers(other, right).Status, "an answer works once")
			assert.Contains(t, other.Get("/").Body, "test-widget")
			assert.True(t, member.Get("/").In())
			metrics := f.API(http.MethodGet, "/metrics", "", nil).Body
			assert.Contains(t, metrics, `fairdoor_challenges_total{outcome="passed",room="shop"} 1`)
			assert.Contains(t, metrics, `fairdoor_challenges_total{outcome="failed",room="shop"} 4`)
			assert.Contains(t, metrics, `fairdoor_decisions_total{outcome="challenged",room="shop"} 2`)
		})
	}
}

// One right answer is one place, however many bring the cookie that it was given for, now or when
// the place is over.
func TestOneAnswerIsOnePlace(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.Challenging(p), gatetest.Settings(func(s *queue.Settings) { s.QueueTicketTTL, s.SessionDuration = time.Minute, time.Hour }))
	f.Full()
	person := f.Visitor()
	require.Equal(t, http.StatusOK, answers(person, p.Answer()).Status)
	var same []*gatetest.Visitor
	for range 20 {
		same = append(same, person.Twin())
	}
	ask := func() (challenged int) {
		for _, v := range same {
			if strings.Contains(v.Twin().Get("/").Body, "test-widget") {
				challenged++
			}
		}
		f.Pass(time.Second)
		return challenged
	}
	assert.Zero(t, ask())
	assert.Equal(t, 1, f.Status("shop").Queued)
	f.Pass(10 * time.Minute)
	assert.Equal(t, 20, ask(), "the place is over for all of them")
	assert.Zero(t, f.Status("shop").Queued)
	assert.Zero(t, func() (n int) { // nor does any other way lead to one
		for _, v := range same {
			n += strings.Count(v.Get("/.fairdoor/session?renew=1").Body, `"waiting"`)
		}
		f.Pass(time.Second)
		return n * f.Status("shop").Queued
	}())
}

func TestAnAnswerThatComesTwiceAtOnceIsOnePlace(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.Challenging(p))
	f.Full()
	right, placed := p.Answer(), make(chan bool, 20)
	var all sync.WaitGroup
	for range cap(placed) {
		v := f.Visitor()
		all.Go(func() { placed <- answers(v, right).Status == http.StatusOK })
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
	f := gatetest.Start(t, gatetest.Challenging(p))
	f.Full()
	v := f.Visitor()
	for name, a := range map[string]gatetest.Answer{
		"GET":  v.Get("/", gatetest.AsJSON),
		"POST": v.Send(http.MethodPost, "/buy", strings.NewReader("a=b"), gatetest.With("Accept", "*/*")),
	} {
		assert.Equal(t, http.StatusForbidden, a.Status, name)
		assert.JSONEq(t, `{"cfWaitingRoom":{"inWaitingRoom":false,"challengeRequired":true,"challenge":{"siteKey":"the-site","scriptUrl":"`+p.URL+
			`/api.js","widgetClass":"test-widget","answerTo":"/.fairdoor/challenge?room=shop"}}}`, a.Body, name)
	}
	form := v.Send(http.MethodPost, "/buy", strings.NewReader("a=b"))
	assert.Equal(t, http.StatusTooManyRequests, form.Status)
	assert.Contains(t, form.Body, "test-widget")
	a := v.Send(http.MethodPost, "/.fairdoor/challenge?room=shop", strings.NewReader(`{"response":"`+p.Answer()+`"}`), gatetest.With("Content-Type", "application/json"))
	require.Equal(t, http.StatusOK, a.Status)
	assert.Equal(t, true, v.Get("/", gatetest.AsJSON).Told("inWaitingRoom"))
	for name, status := range map[string]int{
		"/.fairdoor/challenge": http.StatusNotFound, "/.fairdoor/challenge?room=none": http.StatusNotFound,
	} {
		assert.Equal(t, status, v.Send(http.MethodPost, name, nil).Status, name)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, v.Get("/.fairdoor/challenge?room=shop").Status)
	assert.Equal(t, http.StatusBadRequest, v.Send(http.MethodPost, "/.fairdoor/challenge?room=shop", nil, gatetest.With("Sec-Fetch-Site", "cross-site")).Status)
}

func TestWhileTheProviderIsSilentTheRoomsChoiceCounts(t *testing.T) {
	for choice, status := range map[challenge.Unreachable]int{"": http.StatusOK, challenge.Join: http.StatusOK, challenge.Refuse: http.StatusServiceUnavailable} {
		for name, breaks := range map[string]func(*challengetest.Provider, *gatetest.Fixture){
			"it answers with an error": func(p *challengetest.Provider, _ *gatetest.Fixture) { p.Reply(challengetest.Down) },
			"it is gone":               func(p *challengetest.Provider, _ *gatetest.Fixture) { p.Close() },
		} {
			p := challengetest.New(t)
			f := gatetest.Start(t, gatetest.Challenging(p, func(c *challenge.Config) { c.OnUnreachable = choice }))
			f.Full()
			breaks(p, f)
			v := f.Visitor()
			assert.Equal(t, status, answers(v, "some answer").Status, "%s %s", choice, name)
			assert.Equal(t, status != http.StatusOK, strings.Contains(v.Get("/").Body, "test-widget"))
			assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_challenges_total{outcome="unreachable",room="shop"} 1`)
		}
	}
}

func TestUsersOfTheSiteAreNotChallenged(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.Challenging(p), gatetest.TrustingLoopback, gatetest.Room(func(r *proxy.RoomConfig) { r.Subject.Header = "X-User-Id" }))
	f.Full()
	assert.Equal(t, true, f.Visitor().Get("/", gatetest.AsJSON, gatetest.With("X-User-Id", "ann")).Told("inWaitingRoom"))
	assert.Contains(t, f.Visitor().Get("/").Body, "test-widget")
}

// Whatever a provider says of what a visitor has sent, it is no reason to let them join without an
// answer.
func TestNothingThatAVisitorSendsMakesTheProviderUnavailable(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.Challenging(p))
	f.Full()
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
		a := answers(f.Visitor(), "some answer")
		assert.Equal(t, c.status, a.Status, name)
		assert.Equal(t, c.status == http.StatusOK, len(a.SetCookies()) == 1, name)
	}
}

func TestAVisitorWhoHangsUpGetsNoPlace(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.Challenging(p))
	f.Full()
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
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Public.URL+"/.fairdoor/challenge?room=shop", strings.NewReader("response=some+answer"))
	require.NoError(t, err)
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := f.Public.Client().Do(q)
	if err == nil {
		resp.Body.Close()
	}
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool {
		return strings.Contains(f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_challenges_total{outcome="failed",room="shop"} 1`)
	}, gatetest.Patience, time.Millisecond)
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Queued)
}

func TestAnswersOfOneSiteLeaveOthersRoom(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Challenging(p))
	f.Full()
	done := make(chan struct{})
	p.Reply(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("response") == "made up" {
			<-done
		}
		_, _ = w.Write([]byte(`{"success": true}`))
	})
	answers := func(from, text string) gatetest.Answer { return answers(f.Visitor(), text, gatetest.At(from)) }
	var all sync.WaitGroup
	for i := range 100 { // each from a network of its own
		all.Go(func() { answers(fmt.Sprintf("2001:db8:0:%x00::1", i), "made up") })
	}
	require.Eventually(t, func() bool { return p.Asked() >= 32 }, gatetest.Patience, time.Millisecond)
	assert.Equal(t, http.StatusOK, answers("2001:db8:1::1", "right").Status)
	assert.LessOrEqual(t, p.Asked(), 33, "half of what is verified at a time is the others'")
	close(done)
	all.Wait()
}

func TestAProviderThatIsSilentIsLoggedOnce(t *testing.T) {
	p := challengetest.New(t)
	core, logged := observer.New(zap.InfoLevel)
	f := gatetest.Start(t, gatetest.Challenging(p), func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	f.Full()
	for range 2 {
		p.Reply(challengetest.Down)
		for range 3 {
			answers(f.Visitor(), "some answer")
		}
		p.Reply(nil)
		for range 2 {
			require.Equal(t, http.StatusForbidden, answers(f.Visitor(), "made up").Status)
			require.Equal(t, http.StatusOK, answers(f.Visitor(), p.Answer()).Status)
		}
	}
	assert.Equal(t, 2, logged.FilterMessage("answers to the challenge cannot be verified").Len())
	assert.Equal(t, 2, logged.FilterMessage("answers to the challenge are verified again").Len())
}

func TestAnswersAreTakenOnTheRoomsHosts(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.Challenging(p), gatetest.Room(func(r *proxy.RoomConfig) { r.Routes[0].Host = "shop.test" }))
	v := f.Visitor()
	v.Host = "other.test"
	a := answers(v, p.Answer())
	assert.Equal(t, http.StatusNotFound, a.Status)
	assert.Empty(t, a.SetCookies())
	v.Host = "shop.test"
	assert.Equal(t, http.StatusOK, answers(v, p.Answer()).Status)
}

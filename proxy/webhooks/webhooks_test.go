package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretText = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAAA"

// receiver is a program that takes deliveries.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []*http.Request
	bodies []string
	answer func(try int, w http.ResponseWriter)
}

func newReceiver(t *testing.T, answer func(try int, w http.ResponseWriter)) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got, r.bodies = append(r.got, q), append(r.bodies, string(body))
		try, answer := len(r.got), r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(try, w)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// types are those of the deliveries that have come.
func (r *receiver) types() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, body := range r.bodies {
		var d struct{ Type string }
		_ = json.Unmarshal([]byte(body), &d)
		list = append(list, d.Type)
	}
	return list
}

func (r *receiver) awaits(t *testing.T, types ...string) {
	t.Helper()
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(types, r.types()) }, 10*time.Second, 5*time.Millisecond, "%v", types)
}

func newSender(t *testing.T, dir string) *webhooks.Sender {
	s := webhooks.New(webhooks.Options{Gate: "one", Dir: dir, FirstRetry: 10 * time.Millisecond, Log: zap.NewNop()})
	t.Cleanup(s.Close)
	return s
}

// hook is one at the address, which is localhost.
func hook(t *testing.T, address string, events ...webhooks.Kind) webhooks.Hook {
	secret, err := webhooks.ParseSecret(secretText)
	require.NoError(t, err)
	u, err := url.Parse(strings.Replace(address, "127.0.0.1", "localhost", 1))
	require.NoError(t, err)
	return webhooks.Hook{URL: u, Secret: secret, Events: events}
}

func hosts(t *testing.T, list ...string) outbound.Hosts {
	h, err := outbound.ParseHosts(list)
	require.NoError(t, err)
	return h
}

var began = time.Date(2026, 11, 27, 10, 0, 3, 0, time.UTC)

func TestADeliveryIsSignedAsStandardWebhooksHasIt(t *testing.T) {
	r, s := newReceiver(t, nil), newSender(t, "")
	s.Use([]webhooks.Hook{hook(t, r.URL)}, hosts(t, "http://localhost"))
	s.Notify(webhooks.Event{Kind: webhooks.QueueingBegan, Room: "shop", At: began, Details: map[string]any{"usersQueued": 12}})
	r.awaits(t, "queueing_began")
	got := r.got[0]
	assert.JSONEq(t, `{"type": "queueing_began", "timestamp": "2026-11-27T10:00:03Z", "data": {"gate": "one", "room": "shop", "usersQueued": 12}}`, r.bodies[0])
	assert.Equal(t, "application/json", got.Header.Get("Content-Type"))

	// The receiver's side, by the specification.
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secretText, "whsec_"))
	require.NoError(t, err)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(got.Header.Get("webhook-id") + "." + got.Header.Get("webhook-timestamp") + "." + r.bodies[0]))
	assert.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), got.Header.Get("webhook-signature"))
	assert.NotEmpty(t, got.Header.Get("webhook-timestamp"))
}

func TestEveryGateNamesAnEventAlike(t *testing.T) {
	r := newReceiver(t, nil)
	for i := range 2 {
		s := newSender(t, "")
		s.Use([]webhooks.Hook{hook(t, r.URL)}, hosts(t, "http://localhost"))
		s.Notify(webhooks.Event{Kind: webhooks.StoreLost, Room: "shop", At: began.Add(time.Duration(i) * time.Second)})
		s.Notify(webhooks.Event{Kind: webhooks.StoreLost, Room: "chat", At: began})
	}
	require.Eventually(t, func() bool { return len(r.types()) == 4 }, 10*time.Second, 5*time.Millisecond)
	ids := map[string]int{}
	for _, q := range r.got {
		ids[q.Header.Get("webhook-id")]++
	}
	assert.Len(t, ids, 2)
}

func TestAHookCanAskForEveryKindButTests(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "webhooks.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var declared []webhooks.Kind
	ast.Inspect(source, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is {
			return true
		}
		if of, is := spec.Type.(*ast.Ident); is && of.Name == "Kind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			declared = append(declared, webhooks.Kind(text))
		}
		return true
	})
	require.Contains(t, declared, webhooks.QueueingBegan)
	for _, k := range waitlist.EventKinds() {
		declared = append(declared, webhooks.OfWaitlist+webhooks.Kind(k))
	}
	assert.ElementsMatch(t, declared, append(webhooks.Kinds(), webhooks.Test))
}

func TestAHookGetsWhatItWantsInItsOrder(t *testing.T) {
	r := newReceiver(t, func(try int, w http.ResponseWriter) {
		if try%2 == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	s := newSender(t, "")
	h := hook(t, r.URL, webhooks.QueueingBegan, webhooks.QueueingEnded, webhooks.SoldOut)
	h.Rooms = []string{"shop"}
	s.Use([]webhooks.Hook{h}, hosts(t, "http://localhost"))
	for _, e := range []webhooks.Event{
		{Kind: webhooks.QueueingBegan, Room: "shop"}, {Kind: webhooks.LimitReached, Room: "shop"}, {Kind: webhooks.SoldOut, Room: "chat"},
		{Kind: webhooks.SoldOut, Room: "shop"}, {Kind: webhooks.QueueingEnded, Room: "shop"},
	} {
		e.At = time.Now()
		s.Notify(e)
	}
	r.awaits(t, "queueing_began", "queueing_began", "sold_out", "sold_out", "queueing_ended", "queueing_ended")
	require.Eventually(t, func() bool { return s.Statuses()[0].Sent == 3 }, 10*time.Second, 5*time.Millisecond)
	status := s.Statuses()[0]
	assert.EqualValues(t, 3, status.Failed)
	assert.Contains(t, status.Failure, "503")
	assert.Equal(t, r.got[0].Header.Get("webhook-id"), r.got[1].Header.Get("webhook-id"), "a delivery that is tried again keeps its id")
}

func TestNobodyWaitsForASlowReceiver(t *testing.T) {
	answers := make(chan struct{})
	defer close(answers)
	r := newReceiver(t, func(int, http.ResponseWriter) { <-answers })
	quick, s := newReceiver(t, nil), newSender(t, "")
	s.Use([]webhooks.Hook{hook(t, r.URL), hook(t, quick.URL)}, hosts(t, "http://localhost"))
	for range 1500 {
		s.Notify(webhooks.Event{Kind: webhooks.SoldOut, Room: "shop", At: time.Now()})
	}
	assert.LessOrEqual(t, s.Statuses()[0].Waiting, 1000)
	assert.GreaterOrEqual(t, s.Statuses()[0].Dropped, uint64(499))
	require.Eventually(t, func() bool { return s.Statuses()[1].Sent+s.Statuses()[1].Dropped == 1500 }, 20*time.Second, 5*time.Millisecond)
	s.Use(nil, outbound.Hosts{})
}

func TestARedirectIsNotFollowed(t *testing.T) {
	other := newReceiver(t, nil)
	r := newReceiver(t, func(try int, w http.ResponseWriter) {
		if try == 1 {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	})
	s := newSender(t, "")
	s.Use([]webhooks.Hook{hook(t, r.URL)}, hosts(t, "http://localhost"))
	assert.Equal(t, 1, s.Try(""))
	r.awaits(t, "test", "test")
	assert.Empty(t, other.types())
}

func TestAReceiverThatHasGoneIsToldOfNothingMore(t *testing.T) {
	r := newReceiver(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
	dir := t.TempDir()
	s := newSender(t, dir)
	s.Use([]webhooks.Hook{hook(t, r.URL)}, hosts(t, "http://localhost"))
	s.Try("")
	require.Eventually(t, func() bool { return s.Statuses()[0].Gone }, 10*time.Second, 5*time.Millisecond)
	s.Try("")
	assert.Zero(t, s.Statuses()[0].Waiting)
	assert.Empty(t, files(t, dir))
	s.Use([]webhooks.Hook{hook(t, r.URL)}, hosts(t, "http://localhost"))
	s.Try("")
	require.Eventually(t, func() bool { return len(r.types()) == 2 }, 10*time.Second, 5*time.Millisecond, "a new configuration tries again")
}

// files are those below a directory.
func files(t *testing.T, dir string) (list []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, path)
		}
		return err
	}))
	return list
}

func TestWhatWasNotTakenIsSentAfterARestart(t *testing.T) {
	dir, down := t.TempDir(), newReceiver(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) })
	s := newSender(t, dir)
	s.Use([]webhooks.Hook{hook(t, down.URL)}, hosts(t, "http://localhost"))
	s.Notify(webhooks.Event{Kind: webhooks.QueueingBegan, Room: "shop", At: time.Now()})
	s.Notify(webhooks.Event{Kind: webhooks.SoldOut, Room: "shop", At: time.Now()})
	require.Eventually(t, func() bool { return len(down.types()) > 1 }, 10*time.Second, 5*time.Millisecond)
	// The process is gone without a word: what is in its files is all that is left of it.
	left := files(t, dir)
	require.Len(t, left, 2)
	after := filepath.Join(t.TempDir(), "hooks")
	require.NoError(t, os.CopyFS(after, os.DirFS(dir)))
	require.NoError(t, os.WriteFile(filepath.Join(after, filepath.Base(filepath.Dir(left[0])), "99-cut.json"), []byte(`{"id":`), 0o600))
	s.Close()

	down.mu.Lock()
	down.answer, down.got, down.bodies = nil, nil, nil
	down.mu.Unlock()
	again := newSender(t, after)
	again.Use([]webhooks.Hook{hook(t, down.URL)}, hosts(t, "http://localhost"))
	down.awaits(t, "queueing_began", "sold_out")
	require.Eventually(t, func() bool { return len(files(t, after)) == 0 }, 10*time.Second, 5*time.Millisecond)
}

func TestOnlyHostsOfTheListAreAsked(t *testing.T) {
	list := hosts(t, "hooks.example.com", "*.push.example", "http://localhost", "10.1.0.0/16", "http://10.9.9.9", "port.example:8443", "http://plain.example:81")
	for address, fault := range map[string]string{
		"https://hooks.example.com/a": "", "https://HOOKS.example.com:8443/a": "", "http://localhost:9000/": "", "https://localhost/": "",
		"https://10.1.2.3/": "", "https://a.push.example/": "", "https://a.b.push.example/": "", "https://push.example/": "does not have", "https://a.notpush.example/": "does not have", "http://10.9.9.9/": "",
		"http://hooks.example.com/a": "needs https", "https://example.com/": "does not have example.com", "https://evil.hooks.example.com/": "does not have",
		"https://10.2.0.1/": "does not have", "https://port.example:8443/": "", "https://port.example/": "does not have", "http://port.example:8443/": "needs https", "http://plain.example:81/": "", "http://plain.example/": "does not have",
		"ftp://hooks.example.com/": "no https", "https://u:p@hooks.example.com/": "no https", "http://10.1.2.3/": "needs https",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		if err := list.Check(u); fault == "" {
			assert.NoError(t, err, address)
		} else {
			assert.ErrorContains(t, err, fault, address)
		}
	}
	for _, entry := range []string{"", "https://hooks.example.com", "a/b", "a:0", "a:http", "a:80:80", "10.1.2.3:80", "user@host", "*.", "*", "a.*"} {
		_, err := outbound.ParseHosts([]string{entry})
		assert.Error(t, err, entry)
	}
}

// A name that is in the list may mean another address later: what counts is where the connection
// goes.
func TestPrivateAddressesAreRefusedAtTheConnection(t *testing.T) {
	r := newReceiver(t, nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), ":")
	for name, allowed := range map[string]bool{"127.0.0.1.": false, "127.0.0.1": true} {
		s := newSender(t, "")
		u := &url.URL{Scheme: "http", Host: name + ":" + port, Path: "/"}
		list := hosts(t, "http://localhost")
		if allowed {
			list = hosts(t, "http://127.0.0.1")
		}
		h := hook(t, r.URL)
		h.URL = u
		s.Use([]webhooks.Hook{h}, list)
		s.Try("")
		require.Eventually(t, func() bool { return s.Statuses()[0].Failed > 0 || s.Statuses()[0].Sent > 0 }, 10*time.Second, 5*time.Millisecond)
		assert.Equal(t, allowed, s.Statuses()[0].Sent > 0, "%s: %s", name, s.Statuses()[0].Failure)
	}
	assert.Len(t, r.types(), 1)
}

func TestASecretIsLongEnough(t *testing.T) {
	for _, text := range []string{"", "secret", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAAA", "whsec_%%%"} {
		_, err := webhooks.ParseSecret(text)
		assert.Error(t, err, text)
	}
}

func TestDeliveriesOfOneMinuteHaveIDsOfTheirOwn(t *testing.T) {
	r, s := newReceiver(t, nil), newSender(t, "")
	s.Use([]webhooks.Hook{hook(t, r.URL)}, hosts(t, "http://localhost"))
	s.Notify(webhooks.Event{Kind: webhooks.SoldOut, Room: "shop", At: began, Nth: 1})
	s.Notify(webhooks.Event{Kind: webhooks.Reopened, Room: "shop", At: began, Nth: 1})
	s.Notify(webhooks.Event{Kind: webhooks.SoldOut, Room: "shop", At: began, Nth: 2})
	s.Try("")
	s.Try("")
	r.awaits(t, "sold_out", "reopened", "sold_out", "test", "test")
	ids := map[string]bool{}
	for _, q := range r.got {
		ids[q.Header.Get("webhook-id")] = true
	}
	assert.Len(t, ids, 5)
}

func TestADeliveryThatIsRefusedForGoodDoesNotHoldTheOthersUp(t *testing.T) {
	r := newReceiver(t, func(try int, w http.ResponseWriter) {
		switch {
		case try == 1:
			w.WriteHeader(http.StatusTooManyRequests)
		case try <= 8:
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	s := newSender(t, t.TempDir())
	s.Use([]webhooks.Hook{hook(t, r.URL)}, hosts(t, "http://localhost"))
	s.Notify(webhooks.Event{Kind: webhooks.SoldOut, Room: "shop", At: time.Now()})
	s.Notify(webhooks.Event{Kind: webhooks.Reopened, Room: "shop", At: time.Now()})
	require.Eventually(t, func() bool { return s.Statuses()[0].Sent == 1 }, 20*time.Second, 5*time.Millisecond)
	status := s.Statuses()[0]
	assert.EqualValues(t, 1, status.Dropped)
	assert.EqualValues(t, 8, status.Failed)
	assert.Equal(t, "reopened", r.types()[8])
}

func TestAStatusHidesWhatMayBeSecretInAnAddress(t *testing.T) {
	s := newSender(t, "")
	h := hook(t, "https://hooks.example.com/services/T0/B0/secret?key=secret")
	s.Use([]webhooks.Hook{h}, hosts(t, "hooks.example.com"))
	assert.Equal(t, "https://hooks.example.com", s.Statuses()[0].URL)
}

// A clock that was set back changes nothing: files of the time to come are a gate's that ran ahead.
func TestTheOrderOfWhatWaitsOutlivesRestarts(t *testing.T) {
	dir, down := t.TempDir(), newReceiver(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) })
	s := newSender(t, dir)
	s.Use([]webhooks.Hook{hook(t, down.URL)}, hosts(t, "http://localhost"))
	s.Notify(webhooks.Event{Kind: webhooks.HoldBegan, Room: "shop", At: time.Now()})
	s.Close()
	first := files(t, dir)
	require.Len(t, first, 1)
	_, rest, _ := strings.Cut(filepath.Base(first[0]), "-")
	require.NoError(t, os.Rename(first[0], filepath.Join(filepath.Dir(first[0]), "09000000000000000000-"+rest)))

	s = newSender(t, dir)
	s.Use([]webhooks.Hook{hook(t, down.URL)}, hosts(t, "http://localhost"))
	s.Notify(webhooks.Event{Kind: webhooks.HoldEnded, Room: "shop", At: time.Now()})
	s.Close()
	down.mu.Lock()
	down.answer, down.got, down.bodies = nil, nil, nil
	down.mu.Unlock()
	newSender(t, dir).Use([]webhooks.Hook{hook(t, down.URL)}, hosts(t, "http://localhost"))
	down.awaits(t, "hold_began", "hold_ended")
}

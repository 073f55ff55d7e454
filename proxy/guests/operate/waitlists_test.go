package operate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/operate"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// beta is a waitlist of the room shop.
type beta struct {
	record  *waitlist.List
	compose func(waitlist.Mail) (mail.Message, error)
	close   func() error // the record
}

func (*beta) Name() string { return "beta" }

func (*beta) Room() string { return "shop" }

func (b *beta) Record() *waitlist.List { return b.record }

func (b *beta) Mails() (func(waitlist.Mail) (mail.Message, error), bool) {
	return b.compose, b.compose != nil
}

// guests is a gate with a waitlist, and without rooms.
type guests struct {
	t    *testing.T
	beta *beta
}

// now is when all is done.
var now = time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)

// noRooms is a gate.
type noRooms struct{ admin.Gate }

func (noRooms) Rooms() iter.Seq[admin.Room] { return func(func(admin.Room) bool) {} }

func (noRooms) Room(string) (admin.Room, bool) { return nil, false }

func (g guests) handlerWith(token string) *admin.Handler {
	clock := func() time.Time { return now }
	all := operate.Waitlists{All: slices.Values([]operate.Waitlist{g.beta}), Clock: clock, Log: zap.NewNop()}
	return admin.New(admin.Config{
		Gate: noRooms{}, Parts: []func(admin.API) admin.Part{all.Admin}, Metrics: http.NotFoundHandler(), Token: token, Clock: clock, Log: zap.NewNop(),
	})
}

// handler is the handler of the gate. What it answers is held to its document.
func (g guests) handler() http.Handler { return admintest.Conform(g.t, g.handlerWith("")) }

// ask asks the handler of a gate.
func ask(g guests, method, target, body string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "localhost"
	g.handler().ServeHTTP(w, r)
	return w
}

// newGuests returns a gate whose waitlist has some people, with ids from 1.
func newGuests(t *testing.T, people int, change ...func(*waitlist.Settings)) guests {
	t.Helper()
	s := waitlist.DefaultSettings()
	s.ConfirmEmail = false
	for _, c := range change {
		c(&s)
	}
	store, err := waitlist.Open(t.Context(), filepath.Join(t.TempDir(), "waitlists.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	record, err := store.List(t.Context(), "beta", s)
	require.NoError(t, err)
	g := guests{t, nil}
	g.beta = &beta{record: record, close: store.Close, compose: func(m waitlist.Mail) (mail.Message, error) {
		return mail.Message{To: m.To, Subject: string(m.Kind), Text: m.Token, HTML: "<p>", At: m.At}, nil
	}}
	for i := range people {
		g.join(waitlist.SignUp{Email: fmt.Sprintf("person%d@example.com", i+1)})
	}
	return g
}

func capacity(n int) func(*waitlist.Settings) { return func(s *waitlist.Settings) { s.Capacity = n } }

func (g guests) join(who waitlist.SignUp) waitlist.Place {
	g.t.Helper()
	p, err := g.beta.record.Join(g.t.Context(), who, now)
	assert.NoError(g.t, err)
	return p
}

// ask asks for a resource of the waitlist, which has to answer with a status, and returns the
// answer.
func (g guests) ask(status int, method, resource, body string) string {
	g.t.Helper()
	w := ask(g, method, "/api/v1/waitlists/beta"+resource, body)
	require.Equal(g.t, status, w.Code, "%s %s: %s", method, resource, w.Body)
	if status >= http.StatusBadRequest {
		assert.Equal(g.t, "application/problem+json", w.Header().Get("Content-Type"))
	}
	return w.Body.String()
}

// refuses says that each of the bodies is refused with a status and a sentence.
func (g guests) refuses(status int, method, resource, sentence string, bodies ...string) {
	g.t.Helper()
	for _, body := range bodies {
		var problem struct {
			Detail string `json:"detail"`
		}
		require.NoError(g.t, json.Unmarshal([]byte(g.ask(status, method, resource, body)), &problem))
		assert.Contains(g.t, problem.Detail, sentence, body)
	}
}

type listing struct {
	Entries []struct {
		ID       int64
		Email    string
		Status   string
		Rank     int
		Priority int
		JoinedAt time.Time
	}
	Total int
}

func (g guests) entries(query string) (l listing) {
	g.t.Helper()
	require.NoError(g.t, json.Unmarshal([]byte(g.ask(http.StatusOK, http.MethodGet, "/entries"+query, "")), &l))
	return l
}

func (g guests) ids(query string) (ids []int64) {
	g.t.Helper()
	for _, e := range g.entries(query).Entries {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestAWaitlistTellsHowItStands(t *testing.T) {
	g := newGuests(t, 5, capacity(3))
	g.ask(http.StatusOK, http.MethodPost, "/release", `{"count": 2}`)
	one := g.ask(http.StatusOK, http.MethodGet, "", "")
	assert.JSONEq(t, `{
		"name": "beta", "room": "shop", "paused": false, "capacity": 3, "held": 2, "owed": 0, "released": 2, "accepted": 0, "expired": 0,
		"entries": {"unconfirmed": 0, "waiting": 3, "invited": 2, "accepted": 0, "expired": 0, "removed": 0},
		"nextExpiry": "2021-05-29T15:54:10Z", "mailsWaiting": 7,
		"settings": {"capacity": 3, "invite_ttl": "48h", "referral_boost": 5, "referral_max": 50, "actions_max": 50, "confirm_email": false, "confirm_ttl": "168h"}
	}`, one)
	assert.JSONEq(t, "["+one+"]", ask(g, http.MethodGet, "/api/v1/waitlists", "").Body.String())
	w := ask(g, http.MethodGet, "/api/v1/waitlists/gamma/entries", "")
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Contains(t, w.Body.String(), "There is no waitlist of this name. See /api/v1/waitlists.")
	assert.Contains(t, ask(g, http.MethodGet, "/api/v1/waitlists/bata", "").Body.String(), `There is no waitlist of this name (did you mean \"beta\"?).`)
}

func TestEntriesAreListedInOrderOfRank(t *testing.T) {
	g := newGuests(t, 5)
	g.ask(http.StatusOK, http.MethodPatch, "/entries/4", `{"priority": 10}`)
	assert.Equal(t, []int64{4, 1, 2, 3, 5}, g.ids(""))
	assert.Equal(t, []int64{1, 2}, g.ids("?after=4&limit=2"))
	l := g.entries("?after=4&limit=2")
	assert.Equal(t, 5, l.Total, "on all pages")
	assert.Equal(t, 2, l.Entries[0].Rank)
	assert.Equal(t, now, l.Entries[0].JoinedAt)
	assert.Equal(t, []int64{3}, g.ids("?q=PERSON3"))
	g.ask(http.StatusOK, http.MethodPost, "/release", `{"count": 1}`)
	assert.Equal(t, []int64{4}, g.ids("?status=invited"))
	assert.JSONEq(t, `{"entries": [], "total": 0}`, g.ask(http.StatusOK, http.MethodGet, "/entries?q=nobody", ""))
	for query, sentence := range map[string]string{
		"?status=invted": `There is no status \"invted\". A status is one of unconfirmed, waiting,`,
		"?q=%FF":         "q is a text in UTF-8", "?q=a%00": "without U+0000",
		"?after=x": "after is an id", "?limit=0": "limit is a whole number from 1 to 1000", "?limit=1001": "from 1 to 1000",
	} {
		assert.Contains(t, g.ask(http.StatusBadRequest, http.MethodGet, "/entries"+query, ""), sentence)
	}
	g.refuses(http.StatusNotFound, http.MethodGet, "/entries?after=99", "There is no such entry. See /api/v1/waitlists/beta/entries.", "")
}

func TestAnEntryIsChangedAndErased(t *testing.T) {
	g := newGuests(t, 3, capacity(1))
	changed := g.ask(http.StatusOK, http.MethodPatch, "/entries/2", `{"priority": -7, "status": "accepted"}`)
	assert.JSONEq(t, changed, g.ask(http.StatusOK, http.MethodGet, "/entries/2", ""))
	for _, part := range []string{`"id": 2`, `"email": "person2@example.com"`, `"status": "accepted"`, `"rank": 0`, `"priority": -7`, `"acceptedAt": "2021-05-27T15:54:10Z"`} {
		assert.Contains(t, changed, part)
	}
	g.refuses(http.StatusConflict, http.MethodPatch, "/entries/1", "no spot is free", `{"priority": 5, "status": "invited"}`)
	g.refuses(http.StatusConflict, http.MethodPatch, "/entries/1", "only an invite can expire", `{"status": "expired"}`, `{"status": "unconfirmed"}`)
	assert.Zero(t, g.entries("?q=person1").Entries[0].Priority, "a status that is refused leaves the priority")
	g.refuses(http.StatusUnprocessableEntity, http.MethodPatch, "/entries/1", `Nothing was changed: send {"priority": n}`,
		``, `{}`, `[]`, `{"rank": 1}`, `{"priority": "high"}`, `{"priority": 1} {}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPatch, "/entries/1", "from -30000 to 30000", `{"priority": 30001}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPatch, "/entries/1", "There is no status", `{"status": "in"}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPatch, "/entries/1", "no priority", `{"status": "removed", "priority": 1}`)

	assert.Empty(t, g.ask(http.StatusNoContent, http.MethodDelete, "/entries/2", ""))
	assert.Empty(t, g.ask(http.StatusNoContent, http.MethodPatch, "/entries/3", `{"status": "removed"}`))
	assert.Equal(t, []int64{1}, g.ids(""))
	assert.Empty(t, g.entries("?status=removed").Entries[0].Email)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		for _, id := range []string{"2", "99", "ada"} {
			g.refuses(http.StatusNotFound, method, "/entries/"+id, "There is no such entry.", "")
		}
	}
	g.refuses(http.StatusNotFound, http.MethodPatch, "/entries/2", "There is no such entry.", `{"priority": 1}`)
}

func TestInvitesAreReleasedUnlessTheListIsPaused(t *testing.T) {
	g := newGuests(t, 5, capacity(3))
	assert.JSONEq(t, `{"released": 2}`, g.ask(http.StatusOK, http.MethodPost, "/release", `{"count": 2}`))
	g.refuses(http.StatusUnprocessableEntity, http.MethodPost, "/release", `send {"count": n}, a whole number from 1`,
		``, `{}`, `{"count": 0}`, `{"count": -1}`, `{"count": 1.5}`, `{"count": "2"}`, `{"n": 2}`)
	assert.Contains(t, g.ask(http.StatusOK, http.MethodPatch, "", `{"paused": true}`), `"paused": true`)
	g.refuses(http.StatusConflict, http.MethodPost, "/release", `To end the pause, PATCH /api/v1/waitlists/beta with {"paused": false}, or use fairdoor waitlist resume.`, `{"count": 1}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPatch, "", `send {"paused": true} or {"paused": false}`, `{}`, `{"paused": "yes"}`, `{"capacity": 5}`)
	assert.Contains(t, g.ask(http.StatusOK, http.MethodPatch, "", `{"paused": false}`), `"paused": false`)
	assert.JSONEq(t, `{"released": 1}`, g.ask(http.StatusOK, http.MethodPost, "/release", `{"count": 2}`), "what spots there are")
	assert.JSONEq(t, `{"released": 0}`, g.ask(http.StatusOK, http.MethodPost, "/release", `{"count": 2}`))
}

func TestReleasesArePlanned(t *testing.T) {
	g := newGuests(t, 5)
	g.ask(http.StatusOK, http.MethodPost, "/plans", `{"count": 1, "every": "1m"}`)
	g.ask(http.StatusOK, http.MethodPost, "/plans", `{"count": 100, "at": "2021-05-28T09:00:00+02:00", "every": "24h"}`)
	one := g.ask(http.StatusOK, http.MethodPost, "/plans", `{"count": 2, "at": "2021-06-01T09:00:00Z"}`)
	assert.JSONEq(t, `{"id": 3, "count": 2, "at": "2021-06-01T09:00:00Z"}`, one)
	swept, err := g.beta.record.Sweep(t.Context(), now)
	require.NoError(t, err)
	assert.Equal(t, 1, swept.Released)
	assert.JSONEq(t, `{"plans": [
		{"id": 1, "count": 1, "at": "2021-05-27T15:55:10Z", "every": "1m"},
		{"id": 2, "count": 100, "at": "2021-05-28T07:00:00Z", "every": "24h"},
		{"id": 3, "count": 2, "at": "2021-06-01T09:00:00Z"}
	]}`, g.ask(http.StatusOK, http.MethodGet, "/plans", ""))
	g.ask(http.StatusNoContent, http.MethodDelete, "/plans/1", "")
	for _, id := range []string{"1", "x"} {
		g.refuses(http.StatusNotFound, http.MethodDelete, "/plans/"+id, "There is no such plan", "")
	}
	for body, sentence := range map[string]string{
		`{"every": "1m"}`:                            `send {"count": n`,
		`{"count": 1, "at": "noon"}`:                 `send {"count": n`,
		`{"count": 1}`:                               "say when",
		`{"count": 1, "every": "1"}`:                 `"every" is a duration`,
		`{"count": 1, "every": "10ms"}`:              "at least 1s",
		`{"count": 1, "at": "2020-06-01T09:00:00Z"}`: "in the past",
	} {
		g.refuses(http.StatusUnprocessableEntity, http.MethodPost, "/plans", sentence, body)
	}
}

func TestReferralsThatWaitForAnOperatorAreJudged(t *testing.T) {
	g := newGuests(t, 1)
	code := g.join(waitlist.SignUp{Email: "ada@example.com"}).ReferralCode
	for _, tag := range []string{"+1", "+2"} {
		g.join(waitlist.SignUp{Email: "ada" + tag + "@example.com", Referral: code})
	}
	listed := g.ask(http.StatusOK, http.MethodGet, "/referrals", "")
	one := `{"referee": {"id": %d, "email": "ada+%d@example.com"}, "referrer": {"id": 2, "email": "ada@example.com"}, "reason": "same_address", "at": "2021-05-27T15:54:10Z"}`
	assert.JSONEq(t, fmt.Sprintf(`{"referrals": [`+one+`,`+one+`]}`, 3, 1, 4, 2), listed)
	assert.JSONEq(t, fmt.Sprintf(`{"referrals": [`+one+`]}`, 4, 2), g.ask(http.StatusOK, http.MethodGet, "/referrals?after=3", ""))
	g.ask(http.StatusNoContent, http.MethodPost, "/referrals/3", `{"grant": true}`)
	g.ask(http.StatusNoContent, http.MethodPost, "/referrals/4", `{"grant": false}`)
	assert.Contains(t, g.ask(http.StatusOK, http.MethodGet, "/entries/2", ""), `"priority": 5`)
	assert.JSONEq(t, `{"referrals": []}`, g.ask(http.StatusOK, http.MethodGet, "/referrals", ""))
	g.refuses(http.StatusNotFound, http.MethodPost, "/referrals/3", "No referral of this entry waits", `{"grant": true}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPost, "/referrals/3", `send {"grant": true}`, `{}`, `{"grant": 1}`)
}

func TestAListIsImportedAndExported(t *testing.T) {
	g := newGuests(t, 1)
	text := "email,priority,status\nada@example.com,5,\nperson1@example.com,,\nnobody,,\nbob@example.com,,unconfirmed\n"
	assert.JSONEq(t, `{"added": 1, "known": 1, "unconfirmed": 1, "faulty": 1, "faults": [{"line": 4, "problem": "this is not an e-mail address"}]}`,
		g.ask(http.StatusOK, http.MethodPost, "/import", text))
	w := ask(g, http.MethodGet, "/api/v1/waitlists/beta/export", "")
	assert.Equal(t, "text/csv; charset=utf-8", w.Header().Get("Content-Type"))
	assert.Equal(t, `attachment; filename="beta.csv"`, w.Header().Get("Content-Disposition"))
	assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	assert.Regexp(t, `^email,user_id,status,priority,rank,referral_code,language,joined_at,confirmed_at,invited_at,invite_expires_at,accepted_at,referrer,referral
person1@example.com,,waiting,0,2,\w{12},,2021-05-27T15:54:10Z,2021-05-27T15:54:10Z,,,,,
ada@example.com,,waiting,5,1,\w{12},,2021-05-27T15:54:10Z,2021-05-27T15:54:10Z,,,,,
bob@example.com,,unconfirmed,0,,\w{12},,2021-05-27T15:54:10Z,,,,,,
$`, w.Body.String())

	other := newGuests(t, 0)
	assert.Contains(t, other.ask(http.StatusOK, http.MethodPost, "/import", w.Body.String()), `"added": 2`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPost, "/import", "the first line has to name the columns", "", "ada@example.com\n")
	large := "email\nbob@example.com\n" + strings.Repeat(strings.Repeat("x", 1<<20)+",\n", 64)
	g.refuses(http.StatusRequestEntityTooLarge, http.MethodPost, "/import", "An import can have 64 MiB. 0 entries were added before that.", large)
	for contentType, want := range map[string]int{"text/csv": 200, "application/x-www-form-urlencoded": 200, "multipart/form-data; boundary=x": 415, "application/json": 415} {
		r, w := httptest.NewRequest(http.MethodPost, "/api/v1/waitlists/beta/import", strings.NewReader(text)), httptest.NewRecorder()
		r.Host = "localhost"
		r.Header.Set("Content-Type", contentType)
		g.handler().ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, contentType)
	}
}

func TestAnImportThatBreaksOffSaysWhatItHasAdded(t *testing.T) {
	g := newGuests(t, 0)
	body := io.MultiReader(strings.NewReader("email\nada@example.com\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/api/v1/waitlists/beta/import", body)
	r.Host = "localhost"
	g.handler().ServeHTTP(w, r)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Contains(t, w.Body.String(), "The body could not be read. 0 entries were added before that.")
}

func TestWhatTakesLongOutlivesTheDeadlinesOfTheListener(t *testing.T) {
	g := newGuests(t, 1)
	server := httptest.NewUnstartedServer(g.handler())
	server.Config.ReadHeaderTimeout, server.Config.ReadTimeout, server.Config.WriteTimeout = time.Minute, 1, 1
	server.Start()
	t.Cleanup(server.Close)
	resp, err := http.Post(server.URL+"/api/v1/waitlists/beta/import", "text/csv", strings.NewReader("email\nada@example.com\n"))
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	resp.Body.Close()
	resp, err = http.Get(server.URL + "/api/v1/waitlists/beta/export")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), "ada@example.com")
}

func TestTheOutboxShowsMailsWhileNoneAreSent(t *testing.T) {
	g := newGuests(t, 1)
	var joining sync.WaitGroup
	for i := range 119 {
		joining.Go(func() { g.join(waitlist.SignUp{Email: fmt.Sprintf("other%d@example.com", i)}) })
	}
	joining.Wait()
	var box struct {
		Mails []struct {
			ID                      int64
			To, Subject, Text, HTML string
			At                      time.Time
		}
	}
	read := func(query string) int {
		box.Mails = nil
		require.NoError(t, json.Unmarshal([]byte(g.ask(http.StatusOK, http.MethodGet, "/outbox"+query, "")), &box))
		return len(box.Mails)
	}
	require.Equal(t, 120, read(""), "all")
	first := box.Mails[0]
	assert.Equal(t, []any{"person1@example.com", "place", "<p>", now}, []any{first.To, first.Subject, first.HTML, first.At})
	assert.NotEmpty(t, first.Text)
	assert.Equal(t, 2, read("?limit=2&after=5"))
	assert.EqualValues(t, 6, box.Mails[0].ID)
	assert.Zero(t, read("?after=120"))
	g.beta.compose = nil
	g.refuses(http.StatusNotFound, http.MethodGet, "/outbox", "The mails of this waitlist are sent", "")
}

func TestABrowserIsSentToThePageOfTheLatestMails(t *testing.T) {
	g := newGuests(t, 1)
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/v1/waitlists/beta/outbox", nil)
	r.Host = "localhost"
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	g.handler().ServeHTTP(w, r)
	assert.Equal(t, http.StatusSeeOther, w.Code)
	assert.Equal(t, "/rooms/shop/waitlist/mails", w.Header().Get("Location"))
}

func TestAnAnswerThatCannotBeFinishedIsBrokenOff(t *testing.T) {
	g := newGuests(t, 3)
	g.beta.compose = func(m waitlist.Mail) (mail.Message, error) {
		if m.ID == 3 {
			return mail.Message{}, errors.New("a template has failed")
		}
		return mail.Message{Text: strings.Repeat("x", 10_000)}, nil
	}
	server := httptest.NewServer(g.handler())
	t.Cleanup(server.Close)
	resp, err := http.Get(server.URL + "/api/v1/waitlists/beta/outbox")
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestTheAuditNamesWhoHasDoneWhat(t *testing.T) {
	g := newGuests(t, 2)
	g.ask(http.StatusOK, http.MethodPost, "/release", `{"count": 1}`)
	g.ask(http.StatusOK, http.MethodPatch, "/entries/2", `{"priority": 3}`)
	g.ask(http.StatusNoContent, http.MethodDelete, "/entries/2", "")
	line := `{"id": %d, "at": "2021-05-27T15:54:10Z", "by": "192.0.2.1", `
	assert.JSONEq(t, fmt.Sprintf(`{"audit": [`+line+`"action": "remove", "entry": 2}, `+line+`"action": "priority", "entry": 2, "detail": "3"}]}`, 3, 2),
		g.ask(http.StatusOK, http.MethodGet, "/audit?limit=2", ""))
	assert.JSONEq(t, fmt.Sprintf(`{"audit": [`+line+`"action": "release", "detail": "1 of 1"}]}`, 1), g.ask(http.StatusOK, http.MethodGet, "/audit?before=2", ""))
	assert.Contains(t, g.ask(http.StatusBadRequest, http.MethodGet, "/audit?before=x", ""), "before is an id")
}

func TestARecordThatDoesNotAnswerIsNotTakenForAnEmptyOne(t *testing.T) {
	g := newGuests(t, 1)
	require.NoError(t, g.beta.close())
	for resource, method := range map[string]string{
		"": http.MethodGet, "/entries": http.MethodGet, "/entries/1": http.MethodGet, "/plans": http.MethodGet, "/referrals": http.MethodGet,
		"/log": http.MethodGet, "/audit": http.MethodGet, "/outbox": http.MethodGet, "/export": http.MethodGet,
	} {
		g.refuses(http.StatusServiceUnavailable, method, resource, "The record of the waitlist does not answer.", "")
	}
	g.refuses(http.StatusServiceUnavailable, http.MethodPost, "/release", "look before you ask again", `{"count": 1}`)
	g.refuses(http.StatusServiceUnavailable, http.MethodPost, "/import", "look before you ask again", "email\nada@example.com\n")
	assert.Equal(t, http.StatusServiceUnavailable, ask(g, http.MethodGet, "/api/v1/waitlists", "").Code)
}

func TestResourcesOfAWaitlistNameTheirMethods(t *testing.T) {
	g := newGuests(t, 0)
	for resource, allowed := range map[string]string{
		"": "GET, HEAD, PATCH", "/entries": "GET, HEAD", "/entries/1": "GET, HEAD, PATCH, DELETE", "/release": "POST", "/plans": "GET, HEAD, POST",
		"/plans/1": "DELETE", "/referrals": "GET, HEAD", "/referrals/1": "POST", "/log": "GET, HEAD", "/audit": "GET, HEAD", "/entries/1/points": "POST", "/entries/1/points/a": "DELETE", "/outbox": "GET, HEAD", "/export": "GET, HEAD", "/import": "POST",
	} {
		w := ask(g, http.MethodPut, "/api/v1/waitlists/beta"+resource, "")
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
		assert.Equal(t, allowed, w.Header().Get("Allow"), resource)
	}
	assert.Contains(t, ask(g, http.MethodGet, "/api/v1/waitlists/beta/nothing", "").Body.String(), "See /api/v1/rooms, /api/v1/waitlists")
}

func TestTheTypesHaveTheFieldsOfTheDocument(t *testing.T) {
	h := newGuests(t, 0).handlerWith("")
	for schema, of := range map[string]any{
		"Waitlist": operate.WaitlistJSON{}, "Entry": operate.EntryJSON{}, "Plan": operate.PlanJSON{}, "Referral": operate.ReferralJSON{},
		"AuditLine": waitlist.Audit{}, "Happened": operate.HappenedJSON{}, "Standing": operate.StandingJSON{}, "Imported": waitlist.Imported{},
		"ImportColumns": operate.ColumnsJSON{},
	} {
		admintest.HasFields(t, h, schema, of)
	}
}

func TestTheDashboardShowsHowWaitlistsStand(t *testing.T) {
	g := newGuests(t, 3, capacity(500))
	g.ask(http.StatusOK, http.MethodPost, "/release", `{"count": 1}`)
	page := ask(g, http.MethodGet, "/", "").Body.String()
	assert.Contains(t, page, `<th scope="row"><a href="/rooms/shop/waitlist">beta</a></th><td>shop</td><td class="n">2</td><td class="n">1</td><td class="n">500</td><td class="n">0</td>`)
	g.ask(http.StatusOK, http.MethodPatch, "", `{"paused": true}`)
	assert.Contains(t, ask(g, http.MethodGet, "/", "").Body.String(), "beta</a> (paused)")
	require.NoError(t, g.beta.close())
	assert.Contains(t, ask(g, http.MethodGet, "/", "").Body.String(), `<th scope="row"><a href="/rooms/shop/waitlist">beta</a></th><td>shop</td><td colspan="5">Its record does not answer.</td>`)
}

package operate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

const shopKey, forumKey = "a key of the shop's program", "a key of the forum's program"

func actions(s *waitlist.Settings) {
	s.Actions = []waitlist.Action{{Name: "bought", Points: 8, Keys: []string{shopKey}}, {Name: "wrote", Title: "Wrote to us", Points: 5, Keys: []string{shopKey, forumKey}}}
}

func TestProgramsReportWhatPeopleHaveDoneByIDAddressOrUser(t *testing.T) {
	g := newGuests(t, 3, actions)
	g.join(waitlist.SignUp{UserID: "7@site"})
	standing := `{"id": %d, "status": "waiting", "rank": %d, "priority": %d, "moves": [%s]}`
	for range 2 {
		assert.JSONEq(t, fmt.Sprintf(standing, 3, 1, 5, `{"action": "wrote", "title": "Wrote to us", "points": 5}`),
			g.ask(http.StatusOK, http.MethodPost, "/entries/PERSON3@example.com/points", `{"action": "wrote", "id": "post/1"}`))
	}
	assert.JSONEq(t, fmt.Sprintf(standing, 4, 1, 8, `{"action": "bought", "points": 8}`),
		g.ask(http.StatusOK, http.MethodPost, "/entries/user:7@site/points", `{"action": "bought", "id": "order 9", "points": 8}`))
	assert.JSONEq(t, fmt.Sprintf(standing, 3, 4, 0, ``), g.ask(http.StatusOK, http.MethodDelete, "/entries/3/points/post%2F1", ""))
	g.refuses(http.StatusConflict, http.MethodPost, "/entries/2/points", "another report has this id", `{"action": "bought", "id": "order 9"}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPost, "/entries/2/points", "from 1 to what", `{"action": "bought", "id": "b", "points": 9}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPost, "/entries/2/points", "at most 128 bytes", `{"action": "bought", "id": "`+strings.Repeat("x", 129)+`"}`)
	g.refuses(http.StatusUnprocessableEntity, http.MethodPost, "/entries/2/points", "send", `{"action": "bought"}`)
	g.refuses(http.StatusForbidden, http.MethodPost, "/entries/2/points", `you may report bought, wrote, and not "danced"`, `{"action": "danced", "id": "b"}`)
	g.refuses(http.StatusNotFound, http.MethodPost, "/entries/nobody@example.com/points", "no such entry", `{"action": "bought", "id": "b"}`)
	g.refuses(http.StatusNotFound, http.MethodDelete, "/entries/2/points/b", "no report with this id", "")
}

func TestOperatorsTakeBackReportsOfWhatIsNoActionAnyMore(t *testing.T) {
	g := newGuests(t, 1, actions)
	g.ask(http.StatusOK, http.MethodPost, "/entries/1/points", `{"action": "wrote", "id": "a"}`)
	without := g.beta.record.Settings()
	without.Actions = nil
	require.NoError(t, g.beta.record.Configure(without))
	assert.Contains(t, g.ask(http.StatusOK, http.MethodDelete, "/entries/1/points/a", ""), `"priority": 0`)
}

func TestAKeyReportsItsActionsAndNothingElse(t *testing.T) {
	for _, admin := range []string{"", "the admin's token"} {
		g := newGuests(t, 1, actions)
		as := func(key, method, path, body string) int {
			r := httptest.NewRequest(method, "http://localhost/api/v1/waitlists/beta"+path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+key)
			w := httptest.NewRecorder()
			g.handlerWith(admin).ServeHTTP(w, r)
			return w.Code
		}
		bought, wrote := `{"action": "bought", "id": "a"}`, `{"action": "wrote", "id": "b"}`
		assert.Equal(t, http.StatusUnauthorized, as("another key", http.MethodPost, "/entries/1/points", bought))
		assert.Equal(t, http.StatusForbidden, as(forumKey, http.MethodPost, "/entries/1/points", bought))
		assert.Equal(t, http.StatusOK, as(forumKey, http.MethodPost, "/entries/1/points", wrote))
		assert.Equal(t, http.StatusOK, as(shopKey, http.MethodPost, "/entries/1/points", bought))
		assert.Equal(t, http.StatusForbidden, as(forumKey, http.MethodDelete, "/entries/1/points/a", ""))
		assert.Equal(t, http.StatusOK, as(shopKey, http.MethodDelete, "/entries/1/points/a", ""))
		if admin != "" {
			assert.Equal(t, http.StatusOK, as(admin, http.MethodPost, "/entries/1/points", `{"action": "bought", "id": "c"}`))
			assert.Equal(t, http.StatusUnauthorized, as(shopKey, http.MethodGet, "/entries/1", ""))
			assert.Equal(t, http.StatusUnauthorized, as(shopKey, http.MethodGet, "/log", ""))
			assert.Equal(t, http.StatusOK, as(admin, http.MethodPost, "/entries/1/points", `{"action": "bought", "id": "c"}`), "again")
			assert.Equal(t, http.StatusOK, as(admin, http.MethodDelete, "/entries/1/points/c", ""))
			lines, err := g.beta.record.Log(t.Context(), 0, 100)
			require.NoError(t, err)
			require.Len(t, lines, 2, "what operators have reported, and no program")
			assert.Equal(t, []any{"take_back", "bought: 8", "points", "bought: 8", int64(1)}, []any{lines[0].Action, lines[0].Detail, lines[1].Action, lines[1].Detail, lines[1].Number})
		}
	}
}

// bare is JSON without white space.
func bare(text string) string { return strings.Join(strings.Fields(text), "") }

func TestTheFeedGoesOnFromACursor(t *testing.T) {
	g := newGuests(t, 2, actions)
	g.ask(http.StatusOK, http.MethodPost, "/entries/2/points", `{"action": "bought", "id": "a"}`)
	g.ask(http.StatusNoContent, http.MethodDelete, "/entries/1", "")
	first := bare(g.ask(http.StatusOK, http.MethodGet, "/log?limit=2", ""))
	assert.Contains(t, first, `"log":[{"id":1,"at":"`)
	assert.Contains(t, first, `"event":"joined","entry":{"id":1,"status":"removed"}`)
	assert.Contains(t, first, `"email":"person2@example.com"`)
	assert.Contains(t, first, `"last":4`)
	rest := bare(g.ask(http.StatusOK, http.MethodGet, "/log?after=2", ""))
	assert.Contains(t, rest, `"event":"moved_up","entry":{"id":2,`)
	assert.Contains(t, rest, `"event":"removed","entry":{"id":1,"status":"removed"}`)
	assert.JSONEq(t, `{"log": [], "last": 4}`, g.ask(http.StatusOK, http.MethodGet, "/log?after=4", ""))
	g.refuses(http.StatusGone, http.MethodGet, "/log?after=5", "go on with after=4", "")
}

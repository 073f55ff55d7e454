package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
)

func TestTheSecondAppWaitsAndGetsIn(t *testing.T) {
	out := &stagetest.Output{}
	require.NoError(t, run(t.Context(), out, stagetest.Addresses(t)), out)
	_, said, _ := strings.Cut(out.String(), "First app:\n")
	first, second, _ := strings.Cut(said, "Second app:\n")
	assert.Equal(t, "In. The shop says {\"offers\": [\"lamp\", \"chair\", \"kettle\"]}\n", first)
	lines := strings.Split(strings.TrimSpace(second), "\n")
	require.GreaterOrEqual(t, len(lines), 4, "it checks in a few times until the first app's ten seconds are over")
	for _, line := range lines[:len(lines)-1] { // who asks while the gate is too busy to decide is told to come back sooner
		assert.Regexp(t, `^In line\. (How long it takes is not known|Estimated wait: (less than a minute|\d+ minutes?))\. People ahead: 0\. Asking again in [123]s\.$`, line)
	}
	assert.Contains(t, lines[len(lines)-1], "In. The shop says")
}

func TestTheClient(t *testing.T) {
	type answer struct {
		status     int
		room       string
		retryAfter string
		body       string
	}
	const line = `{"cfWaitingRoom": {"inWaitingRoom": true, "waitTimeKnown": false}}`
	tests := map[string]struct {
		answers []answer
		want    string
		wantErr string
	}{
		"waits for as long as the room says":          {[]answer{{200, "shop", "1", line}, {200, "shop", "1", line}, {200, "", "", "offers"}}, "offers", ""},
		"waits whatever status the room is set to":    {[]answer{{503, "shop", "1", line}, {200, "", "", "offers"}}, "offers", ""},
		"waits where the room's answer is no JSON":    {[]answer{{200, "shop", "1", "<!doctype html>"}, {200, "", "", "offers"}}, "offers", ""},
		"waits after a 503 that is not a room's":      {[]answer{{503, "", "1", "busy"}, {200, "", "", "offers"}}, "offers", ""},
		"gives up where nobody is let in":             {[]answer{{200, "shop", "", `{"cfWaitingRoom": {"refreshIntervalSeconds": 0}}`}}, "", "come back later"},
		"gives up on an answer that is no use to it":  {[]answer{{404, "", "", "nothing"}}, "", "404"},
		"takes the site's JSON for what it is":        {[]answer{{200, "", "", `{"offers": []}`}}, `{"offers": []}`, ""},
		"does not ask again after a 503 without hint": {[]answer{{503, "", "", "broken"}}, "", "503"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			asked := 0
			last := time.Time{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := test.answers[asked]
				if asked > 0 {
					assert.GreaterOrEqual(t, time.Since(last), 990*time.Millisecond, "not before it was told to")
					ticket, err := r.Cookie("ticket")
					if assert.NoError(t, err) {
						assert.Equal(t, strconv.Itoa(asked), ticket.Value, "the newest ticket")
					}
				}
				assert.Equal(t, "application/json", r.Header.Get("Accept"))
				asked, last = asked+1, time.Now()
				http.SetCookie(w, &http.Cookie{Name: "ticket", Value: strconv.Itoa(asked)})
				if a.room != "" {
					w.Header().Set("Fairdoor-Room", a.room)
				}
				if a.retryAfter != "" {
					w.Header().Set("Retry-After", a.retryAfter)
				}
				w.WriteHeader(a.status)
				_, _ = w.Write([]byte(a.body))
			}))
			defer server.Close()
			app, err := newClient(func(room, time.Duration) {})
			require.NoError(t, err)
			got, err := app.get(t.Context(), server.URL)
			if test.wantErr != "" {
				require.ErrorContains(t, err, test.wantErr)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, test.want, string(got))
			assert.Equal(t, len(test.answers), asked)
		})
	}
}

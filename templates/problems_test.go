package templates_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

var statuses = []int{400, 404, 405, 408, 421, 429, 431, 500, 502, 503, 504}

func newProblems(t *testing.T) *templates.Problems {
	t.Helper()
	p, err := templates.NewProblems()
	require.NoError(t, err)
	return p
}

func TestErrorPagesAreAsRecorded(t *testing.T) {
	p := newProblems(t)
	golden(t, "431.en-US.html", p.Page(431, "en-US"))
	golden(t, "504.he-IL.html", p.Page(504, "he-IL"))
	golden(t, "429.json", p.JSON(429))
}

func TestEveryProblemHasAPageInEveryLanguageAndJSON(t *testing.T) {
	p := newProblems(t)
	for _, status := range statuses {
		for _, code := range codes(t) {
			page := string(p.Page(status, code))
			assert.Contains(t, page, `<html lang="`+code+`"`)
			assert.Contains(t, page, strconv.Itoa(status))
			assert.NotContains(t, page, "noindex", "the address is that of the site's own page")
			assert.NotContains(t, page, "[[")
			assert.NotContains(t, page, "<script")
			assert.Less(t, len(page), 4<<10+640)
		}
		var told struct {
			Title, Detail string
			Status        int
		}
		require.NoError(t, json.Unmarshal(p.JSON(status), &told))
		assert.Equal(t, status, told.Status)
		assert.Equal(t, http.StatusText(status), told.Title)
		assert.NotEmpty(t, told.Detail)
	}
}

func TestUnlistedStatusesAndLanguagesAreAnsweredAsTheNearest(t *testing.T) {
	p := newProblems(t)
	assert.Equal(t, p.Page(400, "en-US"), p.Page(418, "en-US"))
	assert.Equal(t, p.JSON(400), p.JSON(418))
	assert.Equal(t, p.Page(500, "de-DE"), p.Page(599, "de-DE"))
	assert.Equal(t, p.JSON(500), p.JSON(599))
	assert.Equal(t, p.Page(502, "en-US"), p.Page(502, "xx"))
}

func TestErrorPagesKeepToTheirPolicy(t *testing.T) {
	p := newProblems(t)
	style, _, _ := strings.Cut(strings.SplitN(string(p.Page(404, "en-US")), "<style>", 2)[1], "</style>")
	assert.Equal(t, templates.Style(), style)
	assert.Equal(t, newSet(t, templates.Options{}).ContentSecurityPolicy(), p.ContentSecurityPolicy())
}

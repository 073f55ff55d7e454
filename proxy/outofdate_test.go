package proxy_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

func TestOperatorsAreToldThatTheirMessageIsOutOfDateOnceEverythingIsSoldOut(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.LeftEnabled), gatetest.Settings(gatetest.Closes))
	gatetest.Leaves(f.Site)
	in := f.Full()[0]
	require.Equal(t, http.StatusOK, f.Patch(`{"message": "There is enough for \"all\""}`).Status)
	told := func() string {
		var s struct{ MessageOutOfDate string }
		f.API(http.MethodGet, "/api/v1/rooms/shop/status", "", &s)
		for _, page := range []string{"/", "/rooms/shop", "/rooms/shop/limits"} {
			text := html.UnescapeString(f.API(http.MethodGet, page, "", nil).Body)
			times := strings.Count(text, "may be out of date")
			require.Equal(t, map[bool]int{true: 1}[s.MessageOutOfDate != ""], times, page)
			require.Contains(t, text, s.MessageOutOfDate, page)
		}
		return s.MessageOutOfDate
	}
	require.Empty(t, told())
	require.True(t, in.Get("/?left=0").In())
	f.Pass(time.Second)
	f.Pass(time.Second)
	require.Equal(t, `The message "There is enough for \"all\"" may be out of date: `+
		`beside it people read "Nothing is left. You need not wait any longer." now, and their wait when operators saw to it last.`, told())

	// An operator keeps it.
	form := url.Values{}
	_, kept, found := strings.Cut(f.API(http.MethodGet, "/rooms/shop/limits", "", nil).Body, `action="/rooms/shop/change"`)
	require.True(t, found)
	kept, _, _ = strings.Cut(kept, "</form>")
	for _, field := range regexp.MustCompile(`name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(kept, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	require.True(t, json.Valid([]byte(form.Get("patch"))))
	require.Equal(t, http.StatusOK, f.API(http.MethodPost, "/rooms/shop/change", form.Encode(), nil, gatetest.With("Content-Type", "application/x-www-form-urlencoded")).Status)
	assert.Empty(t, told())
	require.True(t, in.Get("/?left=9").In())
	f.Pass(time.Second)
	f.Pass(time.Second)
	assert.Contains(t, told(), "people read their wait now")
}

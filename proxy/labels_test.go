package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// occupants are the labels of those who are in, as the admin API tells them.
func (f *fixture) occupants() (labels []string) {
	f.t.Helper()
	var list struct {
		Active []struct {
			Label string `json:"label"`
		} `json:"active"`
	}
	f.api(http.MethodGet, "/api/v1/rooms/shop/visitors", "", &list)
	for _, in := range list.Active {
		labels = append(labels, in.Label)
	}
	return labels
}

func TestOperatorsRecogniseWhoIsInByWhatTheSiteCallsThem(t *testing.T) {
	secret := strings.Repeat("s", 32)
	f := start(t, trustingLoopback, room(func(r *proxy.RoomConfig) {
		r.Settings.TotalActiveUsers = 4
		r.Subject.LabelHeader, r.Subject.LabelClaim = "X-Name", "name"
		r.Subject.TokenHeader, r.Subject.Secrets = "X-Token", [][]byte{[]byte(secret)}
	}))
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": "7", "exp": f.clock.Now().Add(time.Hour).Unix(), "name": "Ann <script>",
	}).SignedString([]byte(secret))
	require.NoError(t, err)
	for _, in := range []func(*http.Request){
		with("X-Token", token), with("X-Name", "Ben\x85 \u202e"+strings.Repeat("x", 100)), with("X-Token", token+"x"), with("X-Nothing", ""),
	} {
		require.True(t, f.visitor().get("/", in).in())
	}
	assert.ElementsMatch(t, []string{"Ann <script>", "Ben " + strings.Repeat("x", 76) + "…", "", ""}, f.occupants())

	page := f.api(http.MethodGet, "/", "", nil)
	assert.Contains(t, page.body, "Ann &lt;script&gt;")
	assert.Contains(t, page.body, "not known here")
}

func TestLabelsOfStrangersAreRemovedAndCountForNothing(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) { r.Subject.LabelHeader = "X-Name" }))
	require.True(t, f.visitor().get("/", with("X-Name", "Ann"), func(r *http.Request) { r.Header["X_name"] = []string{"Ann"} }).in())
	assert.Equal(t, []string{""}, f.occupants())
	asked := f.site.requests()[0]
	assert.Empty(t, asked.Header["X-Name"])
	assert.Empty(t, asked.Header["X_name"])
}

func TestWithoutALabelNobodyIsListedInTheDashboard(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	f.full()
	assert.NotContains(t, f.api(http.MethodGet, "/", "", nil).body, "Who is in")
}

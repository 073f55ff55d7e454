package proxy_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// occupants are the labels of those who are in, as the admin API tells them.
func occupants(f *gatetest.Fixture) (labels []string) {
	f.T.Helper()
	var list struct {
		Active []struct {
			Label string `json:"label"`
		} `json:"active"`
	}
	f.API(http.MethodGet, "/api/v1/rooms/shop/visitors", "", &list)
	for _, in := range list.Active {
		labels = append(labels, in.Label)
	}
	return labels
}

func TestOperatorsRecogniseWhoIsInByWhatTheSiteCallsThem(t *testing.T) {
	secret := strings.Repeat("s", 32)
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Settings.TotalActiveUsers = 4
		r.Subject.LabelHeader, r.Subject.LabelClaim = "X-Name", "name"
		r.Subject.TokenHeader, r.Subject.Secrets = "X-Token", [][]byte{[]byte(secret)}
	}))
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": "7", "exp": f.Clock.Now().Add(time.Hour).Unix(), "name": "Ann <script>",
	}).SignedString([]byte(secret))
	require.NoError(t, err)
	for _, in := range []func(*http.Request){
		gatetest.With("X-Token", token), gatetest.With("X-Name", "Ben\x85 \u202e"+strings.Repeat("x", 100)), gatetest.With("X-Token", token+"x"), gatetest.With("X-Nothing", ""),
	} {
		require.True(t, f.Visitor().Get("/", in).In())
	}
	assert.ElementsMatch(t, []string{"Ann <script>", "Ben " + strings.Repeat("x", 76) + "…", "", ""}, occupants(f))

	page := f.API(http.MethodGet, "/rooms/shop", "", nil)
	assert.Contains(t, page.Body, "Ann &lt;script&gt;")
	assert.Regexp(t, `<a href="/rooms/shop/visitors/([0-9A-Z]{4}-[0-9A-Z]{4})">[0-9A-Z]{4}-[0-9A-Z]{4}</a>`, page.Body, "who has no name goes by their code")
}

func TestLabelsOfStrangersAreRemovedAndCountForNothing(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Subject.LabelHeader = "X-Name" }))
	require.True(t, f.Visitor().Get("/", gatetest.With("X-Name", "Ann"), func(r *http.Request) { r.Header["X_name"] = []string{"Ann"} }).In())
	assert.Equal(t, []string{""}, occupants(f))
	asked := f.Site.Requests()[0]
	assert.Empty(t, asked.Header["X-Name"])
	assert.Empty(t, asked.Header["X_name"])
}

func TestWithoutLabelsTheDashboardListsAFewByTheirCodesAndNoCrowd(t *testing.T) {
	for people, listed := range map[int]bool{2: true, 101: false} {
		f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = people }))
		f.Full()
		f.Pass(time.Second)
		page := f.API(http.MethodGet, "/rooms/shop", "", nil).Body
		assert.Equal(t, listed, strings.Contains(page, "Who is in"), "%d people", people)
		assert.Equal(t, listed, regexp.MustCompile(`<a href="/rooms/shop/visitors/[0-9A-Z]{4}-[0-9A-Z]{4}">`).MatchString(page), "%d people", people)
	}
}

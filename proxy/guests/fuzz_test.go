package guests_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// FuzzRequests sends a waitlist what strangers may send. It answers each, blames nobody else, and
// hands out no cookie.
func FuzzRequests(f *testing.F) {
	store, err := waitlist.Open(f.Context(), filepath.Join(f.TempDir(), "waitlists.db"))
	require.NoError(f, err)
	f.Cleanup(func() { _ = store.Close() })
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(f, err)
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	o := guests.Options{
		Clock: clock, Log: zap.NewNop(), Counters: countersOf("beta"), Survive: func(string) {},
		Problem: func(w http.ResponseWriter, _ *http.Request, status int) {
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(status)
		},
		Enter: func(netip.Addr, time.Time, int) bool { return false }, // so that nobody is signed up, and no answer waits for the beat
	}
	s, err := guests.NewSetup(guests.Config{
		Name: "beta", Room: "shop", Settings: waitlist.DefaultSettings(), SignUpsPerNetwork: 1, URL: "https://shop.test",
	}, guests.Site{Keys: []cookie.Key{key}}, o)
	require.NoError(f, err)
	list, err := guests.Open(f.Context(), store, s, o)
	require.NoError(f, err)
	for _, seed := range [][4]string{
		{"POST", "", "application/json", `{"email": "ada@example.com", "token": "x"}`},
		{"POST", "/confirm?token=x", "application/x-www-form-urlencoded", "token=%zz&leave=yes"},
		{"POST", "/invite", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nx\r\n--b--"},
		{"GET", "?secret=x&ref=%00<b>", "", ""}, {"DELETE", "", "", ""}, {"PUT", "/../x", "", ""}, {"GET", "/confirm", "", "fairdoor_.beta=x"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], true)
	}
	f.Fuzz(func(t *testing.T, method, target, kind, body string, asJSON bool) {
		r, err := http.NewRequest(method, "http://shop.test"+guests.Paths+"beta"+target, strings.NewReader(body))
		if err != nil {
			return // no server gets such a request
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Cookie", body)
		w := httptest.NewRecorder()
		list.ServeHTTP(w, r, feature.Requester{JSON: asJSON, Owns: func([]byte, int) bool { return true }})
		require.Less(t, w.Code, http.StatusInternalServerError)
		require.NotEqual(t, http.StatusSeeOther, w.Code, "nobody has a token that counts")
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	})
}

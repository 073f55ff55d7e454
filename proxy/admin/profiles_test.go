package admin_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
)

func TestOperatorsGetProfilesOfTheProcess(t *testing.T) {
	const ada, eve = "0123456789abcdef-ada", "0123456789abcdef-eve"
	g := newGate(t)
	g.operators = []admin.Operator{{Name: "ada", Token: ada}, {Name: "eve", Token: eve, Views: true}}
	ask := func(path, token string) *httptest.ResponseRecorder {
		return (&operator{handler: g.handlerWith("")}).send(path, nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1"} {
		assert.Equal(t, http.StatusOK, ask(path, ada).Code, path)
		assert.Equal(t, http.StatusForbidden, ask(path, eve).Code, path)
		assert.Equal(t, http.StatusUnauthorized, ask(path, "").Code, path)
	}
	assert.Equal(t, http.StatusForbidden, ask("/debug/pprof/profile?seconds=1", eve).Code)
	assert.Equal(t, http.StatusNotFound, ask("/debug/pprof/cmdline", ada).Code)

	public := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(public, httptest.NewRequest(http.MethodGet, "/debug/pprof/", nil))
	assert.Equal(t, http.StatusNotFound, public.Code, "a program that embeds the gate may have its visitors there")

	packed, err := gzip.NewReader(bytes.NewReader(ask("/debug/pprof/profile?seconds=1", ada).Body.Bytes()))
	require.NoError(t, err)
	profile, err := io.ReadAll(packed)
	require.NoError(t, err)
	assert.Contains(t, string(profile), "nanoseconds")
}

// Package admintest holds what the admin API answers to its document, in tests.
package admintest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/proxy/admin"
)

// load reads the document once. Whoever gets it has to leave it as it is.
var load = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(admin.Document())
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	doc.Servers = nil // so that it is the document of any
	return doc, nil
})

// Document returns the document of the API, which is valid.
func Document(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := load()
	require.NoError(t, err)
	return doc
}

// Conform returns a handler that answers as h, and fails the test where a request for the API that h has taken, or any
// whole answer of the API, is not as the document has it. Other requests it leaves alone.
func Conform(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	router, err := legacy.NewRouter(Document(t))
	require.NoError(t, err)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		route, params, err := router.FindRoute(q)
		if err != nil {
			h.ServeHTTP(w, q)
			return
		}
		asked, answer := &exchange{Request: q.Clone(q.Context()), t: t}, &answer{ResponseWriter: w, status: http.StatusOK}
		q.Body = io.NopCloser(io.TeeReader(q.Body, &asked.body))
		h.ServeHTTP(answer, q)
		asked.check(route, params, answer)
	})
}

// exchange is a request, with as much of its body as was read.
type exchange struct {
	*http.Request
	t    testing.TB
	body bytes.Buffer
}

// answer keeps what it passes on.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(text []byte) (int, error) {
	a.body.Write(text)
	return a.ResponseWriter.Write(text)
}

// check fails the test if a request that was taken, or its answer, is not as the document has it.
func (e *exchange) check(route *routers.Route, params map[string]string, a *answer) {
	options := &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	what := e.Method + " " + e.URL.String()
	e.Body = io.NopCloser(bytes.NewReader(e.body.Bytes()))
	if e.Header.Get("Content-Type") == "" {
		e.Header.Set("Content-Type", "application/json") // which is what the API takes it for
	}
	options.ExcludeRequestBody = !strings.HasSuffix(e.Header.Get("Content-Type"), "json") || route.Path == "/api/v1/waitlists/{waitlist}/import"
	input := &openapi3filter.RequestValidationInput{Request: e.Request, PathParams: params, Route: route, Options: options}
	if a.status < http.StatusMultipleChoices {
		assert.NoError(e.t, openapi3filter.ValidateRequest(context.Background(), input), "%s was taken with %s", what, &e.body)
	}
	if kind, _, _ := strings.Cut(a.Header().Get("Content-Type"), ";"); strings.HasPrefix(kind, "text/") || kind == "application/jsonl" {
		options.ExcludeResponseBody = true // which has no schema
		documented := route.Operation.Responses.Status(a.status)
		assert.True(e.t, documented != nil && documented.Value.Content[kind] != nil, "%s: %d %s", what, a.status, kind)
	}
	assert.NoError(e.t, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.Header(), Body: io.NopCloser(&a.body), Options: options,
	}), "%s: %d", what, a.status)
}

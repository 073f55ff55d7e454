// Package admintest holds what the admin API answers to its document, in tests.
package admintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
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

// name is what the compiler of schemas calls the document.
const name = "openapi.json"

// schemas compiles the document's schemas, each once. A call of Compile at a time.
var schemas = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	doc, err := load()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	return c, c.AddResource(name, value)
})

var compiling sync.Mutex

// schemaAt returns the schema that a JSON pointer leads to.
func schemaAt(place string) (*jsonschema.Schema, error) {
	c, err := schemas()
	if err != nil {
		return nil, err
	}
	compiling.Lock()
	defer compiling.Unlock()
	return c.Compile(name + place)
}

// below returns the pointer to what has the keys below a place.
func below(place string, keys ...string) string {
	for _, key := range keys {
		place += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return place
}

// Document returns the document of the API, which is valid.
func Document(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := load()
	require.NoError(t, err)
	return doc
}

// Conform returns a handler that answers as h, and fails the test where a request for the API that
// h has taken, or any whole answer of the API, is not as the document has it. Other requests it
// leaves alone.
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
	options.ExcludeResponseBody = true // it would compile the schema each time; checkBody does so once
	assert.NoError(e.t, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.Header(), Options: options,
	}), "%s: %d", what, a.status)
	if e.Method != http.MethodHead {
		assert.NoError(e.t, a.checkBody(route), "%s: %d", what, a.status)
	}
}

// checkBody says how the body of an answer is not as documented.
func (a *answer) checkBody(route *routers.Route) error {
	status := strconv.Itoa(a.status)
	documented := route.Operation.Responses.Value(status)
	if documented == nil {
		status, documented = "default", route.Operation.Responses.Default()
	}
	if documented == nil || len(documented.Value.Content) == 0 {
		return nil
	}
	kind, _, _ := strings.Cut(a.Header().Get("Content-Type"), ";")
	switch content := documented.Value.Content[kind]; {
	case content == nil:
		return fmt.Errorf("an answer of type %q is not documented", kind)
	case content.Schema == nil || !strings.HasSuffix(kind, "json"):
		return nil
	}
	response := documented.Ref
	if response == "" {
		response = below("#", "paths", route.Path, strings.ToLower(route.Method), "responses", status)
	}
	schema, err := schemaAt(below(response, "content", kind, "schema"))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(&a.body)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

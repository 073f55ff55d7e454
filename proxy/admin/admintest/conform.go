// Package admintest holds what the admin API answers to its document, in tests.
package admintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
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

// described is a document, read, what finds the operation of a request, and what compiles the schemas.
type described struct {
	*openapi3.T
	router  routers.Router
	mu      sync.Mutex // held while a schema is compiled
	schemas *jsonschema.Compiler
}

// documents are those that were read, by their texts: each is read once. Whoever gets one has to
// leave it as it is.
var documents sync.Map

// read reads the document of a handler, which is valid.
func read(t testing.TB, h *admin.Handler) *described {
	t.Helper()
	if known, found := documents.Load(string(h.Document)); found {
		return known.(*described)
	}
	doc, err := openapi3.NewLoader().LoadFromData(h.Document)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(context.Background()))
	doc.Servers = nil // so that it is the document of any
	router, err := legacy.NewRouter(doc)
	require.NoError(t, err)
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	d := &described{T: doc, router: router, schemas: jsonschema.NewCompiler()}
	d.schemas.AssertFormat()
	require.NoError(t, d.schemas.AddResource(name, value))
	documents.Store(string(h.Document), d)
	return d
}

// name is what the compiler of schemas calls the document.
const name = "openapi.json"

// schemaAt returns the schema that a JSON pointer leads to.
func (d *described) schemaAt(place string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.schemas.Compile(name + place)
}

// below returns the pointer to what has the keys below a place.
func below(place string, keys ...string) string {
	for _, key := range keys {
		place += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return place
}

// Document returns the document of a handler, which is valid.
func Document(t testing.TB, h *admin.Handler) *openapi3.T {
	t.Helper()
	return read(t, h).T
}

// HasFields fails the test where a schema of the document has not the fields that a type has.
func HasFields(t testing.TB, h *admin.Handler, schema string, of any) {
	t.Helper()
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
		field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, field)
	}
	assert.ElementsMatch(t, fields, slices.Collect(maps.Keys(Document(t, h).Components.Schemas[schema].Value.Properties)), schema)
}

// Conform returns a handler that answers as h, and fails the test where a request for the API that
// h has taken, or any whole answer of the API, is not as the document has it. Other requests it
// leaves alone.
func Conform(t testing.TB, h *admin.Handler) http.Handler {
	t.Helper()
	doc := read(t, h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route, params, err := doc.router.FindRoute(r)
		if err != nil {
			h.ServeHTTP(w, r)
			return
		}
		asked, answer := &exchange{Request: r.Clone(r.Context()), t: t, doc: doc}, &answer{ResponseWriter: w, status: http.StatusOK}
		r.Body = io.NopCloser(io.TeeReader(r.Body, &asked.body))
		h.ServeHTTP(answer, r)
		asked.check(route, params, answer)
	})
}

// exchange is a request, with as much of its body as was read.
type exchange struct {
	*http.Request
	t    testing.TB
	doc  *described
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
		assert.NoError(e.t, a.checkBody(e.doc, route), "%s: %d", what, a.status)
	}
}

// checkBody says how the body of an answer is not as documented.
func (a *answer) checkBody(doc *described, route *routers.Route) error {
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
	schema, err := doc.schemaAt(below(response, "content", kind, "schema"))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(&a.body)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

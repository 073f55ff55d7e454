package gatetest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
)

// Session is what the session API tells of one room.
type Session struct {
	Room       string
	Status     string
	Waiting    map[string]any `json:"cfWaitingRoom"`
	AcceptedAt time.Time
	ExpiresAt  time.Time
}

// Sessions asks how the visitor stands.
func (v *Visitor) Sessions(query string, changes ...func(*http.Request)) ([]Session, Answer) {
	v.Fixture.T.Helper()
	a := v.Get("/.fairdoor/session"+query, changes...)
	var told struct{ Rooms []Session }
	require.NoError(v.Fixture.T, json.Unmarshal([]byte(a.Body), &told), a.Body)
	assert.Equal(v.Fixture.T, "no-store", a.Header.Get("Cache-Control"))
	return told.Rooms, a
}

// Families are the exposition, parsed; the labels of a metric are in the order of
// their names.
func (f *Fixture) Families() map[string]*dto.Metric {
	f.T.Helper()
	a := f.API(http.MethodGet, "/metrics", "", nil)
	require.Equal(f.T, http.StatusOK, a.Status)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.Body))
	require.NoError(f.T, err)
	all := map[string]*dto.Metric{}
	for name, family := range families {
		assert.NotEmpty(f.T, family.GetHelp(), name)
		for _, m := range family.GetMetric() {
			key := name
			for _, label := range m.GetLabel() {
				key += " " + label.GetValue()
			}
			all[key] = m
		}
	}
	return all
}

// Discard is a ResponseWriter that counts what is written and keeps its header.
type Discard struct {
	Fields http.Header // of the answer
	Status int
	Bytes  int
}

// Header implements [http.ResponseWriter].
func (d *Discard) Header() http.Header { return d.Fields }

// WriteHeader implements [http.ResponseWriter].
func (d *Discard) WriteHeader(status int) { d.Status = status }

// Write implements [http.ResponseWriter].
func (d *Discard) Write(p []byte) (int, error) {
	d.Bytes += len(p)
	return len(p), nil
}

// Reset forgets what was written.
func (d *Discard) Reset() {
	clear(d.Fields)
	d.Status, d.Bytes = 0, 0
}

// Excerpt is the record of the room called shop.
func (f *Fixture) Excerpt(from, to time.Time) (e record.Excerpt) {
	f.T.Helper()
	query := "?from=" + from.UTC().Format(time.RFC3339) + "&to=" + to.UTC().Format(time.RFC3339)
	a := f.API(http.MethodGet, "/api/v1/rooms/shop/record"+query, "", &e)
	require.Equal(f.T, http.StatusOK, a.Status, a.Body)
	return e
}

package admin_test

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestTheDocumentHasTheResourcesThatThereAre(t *testing.T) {
	var documented []string
	for path, item := range admintest.Document(t).Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	assert.ElementsMatch(t, admin.Resources(), documented)
}

// As spectral's rules for OpenAPI ask.
func TestTheDocumentDescribesEachOperation(t *testing.T) {
	doc := admintest.Document(t)
	assert.NotEmpty(t, doc.Info.Contact)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			assert.NotEmpty(t, operation.Summary, "%s %s", method, path)
			assert.NotEmpty(t, operation.Description, "%s %s", method, path)
		}
	}
}

func TestTheDocumentHasTheSettingsThatThereAre(t *testing.T) {
	schemas := admintest.Document(t).Components.Schemas
	room, change := schemas["Room"].Value.Properties, schemas["RoomChange"].Value.Properties
	live := 0
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		assert.Contains(t, room, f.Name)
		if f.Live {
			live++
			assert.Contains(t, change, f.Name)
		}
	}
	assert.Len(t, change, live)
}

func TestTheTypesHaveTheFieldsOfTheDocument(t *testing.T) {
	schemas := admintest.Document(t).Components.Schemas
	for name, of := range map[string]any{
		"Status": admin.StatusJSON{}, "Waitlist": admin.WaitlistJSON{}, "Entry": admin.EntryJSON{}, "Plan": admin.PlanJSON{}, "Referral": admin.ReferralJSON{},
		"LogLine": waitlist.Audit{}, "Imported": waitlist.Imported{}, "ImportColumns": admin.ColumnsJSON{}, "Webhook": webhooks.Status{}, "Pass": admin.PassJSON{},
	} {
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields = append(fields, field)
		}
		assert.ElementsMatch(t, fields, slices.Collect(maps.Keys(schemas[name].Value.Properties)), name)
	}
}

func TestTheGateServesTheDocument(t *testing.T) {
	w := ask(newGate(t), http.MethodGet, "/api/v1/openapi.yaml", "")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, string(admin.Document()), w.Body.String())
}

package admin_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
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

func TestTheGateServesTheDocument(t *testing.T) {
	w := ask(newGate(t), http.MethodGet, "/api/v1/openapi.yaml", "")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, string(admin.Document()), w.Body.String())
}

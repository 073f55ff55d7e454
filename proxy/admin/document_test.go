package admin_test

import (
	"cmp"
	"flag"
	"maps"
	"math"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
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

var update = flag.Bool("update", false, "write the settings in openapi.yaml anew")

func TestTheDocumentHasTheSettingsAsTheirTagsDescribeThem(t *testing.T) {
	var room, changes, ofEvents []string
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		room = append(room, property(&f, false))
		if f.Live {
			changes = append(changes, property(&f, true))
		}
		if slices.Contains(event.Overridable(), f.Name) {
			ofEvents = append(ofEvents, property(&f, true))
		}
	}
	text := withBlock(t, string(admin.Document()), "settings", room)
	text = withBlock(t, text, "changes of settings", changes)
	text = withBlock(t, text, "settings of an event", ofEvents)
	if *update {
		require.NoError(t, os.WriteFile("openapi.yaml", []byte(text), 0o600))
		return
	}
	assert.Equal(t, text, string(admin.Document()), "go test ./proxy/admin -update writes it anew")
}

// withBlock puts lines between each comment that begins with the block's name and the end of the block.
func withBlock(t *testing.T, document, name string, lines []string) string {
	t.Helper()
	block := regexp.MustCompile(`(?s)( +# ` + name + `: [^\n]*\n).*?( +# end\n)`)
	require.Regexp(t, block, document)
	return block.ReplaceAllString(document, "${1}"+strings.ReplaceAll(strings.Join(lines, ""), "$", "$$")+"${2}")
}

// property is a line that describes a setting; of a change, null is one that goes back to what it was.
func property(f *setting.Field, change bool) string {
	types := map[reflect.Kind]string{reflect.Int: "integer", reflect.Float64: "number", reflect.Bool: "boolean"}
	kind, isDuration := cmp.Or(types[f.Type.Kind()], "string"), f.Type == reflect.TypeFor[time.Duration]()
	if f.Choices != nil {
		kind = "string"
	}
	is, usage := []string{"type: " + kind}, strings.ToUpper(f.Usage[:1])+f.Usage[1:]
	switch {
	case isDuration && change:
		is = []string{"oneOf: [{$ref: '#/components/schemas/Duration'}, {type: 'null'}]"}
	case isDuration:
		is = []string{"$ref: '#/components/schemas/Duration'"}
	case change:
		is = []string{"type: [" + kind + ", 'null']"}
	}
	if isDuration {
		usage += "; from " + f.Min + " to " + f.Max
	}
	is = append(is, "description: "+quoted(usage+"."))
	if f.Choices != nil {
		var choices []string
		for _, choice := range f.Choices {
			choices = append(choices, quoted(choice))
		}
		if change {
			choices = append(choices, "null")
		}
		is = append(is, "enum: ["+strings.Join(choices, ", ")+"]")
	}
	if f.Default != "" && !change {
		is = append(is, "default: "+literal(f, kind))
	}
	return "        " + f.Name + ": {" + strings.Join(append(is, bounds(f, kind)...), ", ") + "}\n"
}

// bounds are those of a number, and of the length of a text.
func bounds(f *setting.Field, kind string) (is []string) {
	switch {
	case f.Type == reflect.TypeFor[time.Duration]() || f.Choices != nil:
		return nil
	case kind == "string" && f.Max != "":
		return []string{"maxLength: " + f.Max}
	case kind == "integer" || kind == "number":
		is = append(is, "minimum: "+f.Min)
		if f.Max != strconv.Itoa(math.MaxInt32) {
			is = append(is, "maximum: "+f.Max)
		}
	}
	return is
}

func literal(f *setting.Field, kind string) string {
	if kind == "string" {
		return quoted(f.Default)
	}
	return f.Default
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func TestTheTypesHaveTheFieldsOfTheDocument(t *testing.T) {
	schemas := admintest.Document(t).Components.Schemas
	for name, of := range map[string]any{
		"Status": admin.StatusJSON{}, "Waitlist": admin.WaitlistJSON{}, "Entry": admin.EntryJSON{}, "Plan": admin.PlanJSON{}, "Referral": admin.ReferralJSON{},
		"AuditLine": waitlist.Audit{}, "Happened": admin.HappenedJSON{}, "Standing": admin.StandingJSON{}, "Imported": waitlist.Imported{}, "ImportColumns": admin.ColumnsJSON{}, "Webhook": webhooks.Status{}, "Pass": admin.PassJSON{},
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

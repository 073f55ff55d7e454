package admin_test

import (
	"cmp"
	"flag"
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

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

func TestTheDocumentHasTheResourcesThatThereAre(t *testing.T) {
	h := gatetest.Start(t).Admin()
	var documented, resources []string
	for path, item := range admintest.Document(t, h).Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, r := range h.Resources {
		resources = append(resources, r.Pattern)
	}
	assert.ElementsMatch(t, resources, documented)
	assert.Contains(t, resources, "GET /api/v1/waitlists", "features have theirs")
}

// As spectral's rules for OpenAPI ask.
func TestTheDocumentDescribesEachOperation(t *testing.T) {
	doc := admintest.Document(t, gatetest.Start(t).Admin())
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
	document, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	text := withBlock(t, string(document), "settings", room)
	text = withBlock(t, text, "options", append(propertiesOf(reflect.TypeFor[config.Basics]()), propertiesOf(reflect.TypeFor[proxy.RoomOptions]())...))
	text = withBlock(t, text, "changes of settings", changes)
	text = withBlock(t, text, "settings of an event", ofEvents)
	if *update {
		require.NoError(t, os.WriteFile("openapi.yaml", []byte(text), 0o600))
		return
	}
	assert.Equal(t, text, string(document), "go test ./proxy/admin -update writes it anew")
}

// withBlock puts lines between each comment that begins with the block's name and the end of the
// block.
func withBlock(t *testing.T, document, name string, lines []string) string {
	t.Helper()
	block := regexp.MustCompile(`(?s)( +# ` + name + `: [^\n]*\n).*?( +# end\n)`)
	require.Regexp(t, block, document)
	return block.ReplaceAllString(document, "${1}"+strings.ReplaceAll(strings.Join(lines, ""), "$", "$$")+"${2}")
}

// propertiesOf are the lines that describe the options of a struct, but for secrets and the files
// that they are in.
func propertiesOf(t reflect.Type) (lines []string) {
	for _, f := range setting.Fields(t) {
		if f.Tag.Get("outside") != "env" && f.Tag.Get("into") == "" {
			lines = append(lines, property(&f, false))
		}
	}
	return lines
}

// property is a line that describes a setting or an option; of a change, null is one that goes back
// to what it was.
func property(f *setting.Field, change bool) string {
	if f.Type.Kind() == reflect.Struct {
		object := "        " + f.Name + ":\n          type: object\n          additionalProperties: false\n"
		if inner := propertiesOf(f.Type); len(inner) > 0 { // else all of it is secret
			object += "          properties:" + strings.ReplaceAll("\n"+strings.Join(inner, ""), "\n        ", "\n            ")
		}
		return object
	}
	kind := cmp.Or(map[reflect.Kind]string{reflect.Int: "integer", reflect.Float64: "number", reflect.Bool: "boolean", reflect.Slice: "array"}[f.Type.Kind()], "string")
	if f.Choices != nil && kind != "array" && f.Tag.Get("choices") == "" || f.Type == reflect.TypeFor[time.Duration]() {
		kind = "string" // that names a number
	}
	is := append([]string{typeOf(f, kind, change), "description: " + quoted(described(f))}, bounds(f, kind, change)...)
	if f.Default != "" && !change {
		is = append(is, "default: "+literal(f, kind))
	}
	return "        " + f.Name + ": {" + strings.Join(is, ", ") + "}\n"
}

// typeOf is what a value has to be, without its bounds.
func typeOf(f *setting.Field, kind string, change bool) string {
	switch isDuration := f.Type == reflect.TypeFor[time.Duration](); {
	case isDuration && change:
		return "oneOf: [{$ref: '#/components/schemas/Duration'}, {type: 'null'}]"
	case isDuration:
		return "$ref: '#/components/schemas/Duration'"
	case f.IsList() && change:
		return "oneOf: [{$ref: '#/components/schemas/Items'}, {type: 'null'}]"
	case f.IsList():
		return "$ref: '#/components/schemas/Items'"
	case change:
		return "type: [" + kind + ", 'null']"
	case kind == "array":
		return "type: array, items: {" + strings.Join(append([]string{"type: string"}, choices(f, "string", false)...), ", ") + "}"
	default:
		return "type: " + kind
	}
}

// described is the usage of a setting as a sentence, with the bounds of a duration.
func described(f *setting.Field) string {
	usage := strings.ToUpper(f.Usage[:1]) + f.Usage[1:]
	if f.Type == reflect.TypeFor[time.Duration]() {
		usage += "; from " + f.Min + " to " + f.Max
	}
	return usage + "."
}

// bounds are the choices of a value, those of a number, or that of the length of a text.
func bounds(f *setting.Field, kind string, change bool) (is []string) {
	switch {
	case kind == "array":
	case f.Choices != nil:
		return choices(f, kind, change)
	case f.Type == reflect.TypeFor[time.Duration]():
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

// choices are what a value, or each of a list, may be.
func choices(f *setting.Field, kind string, change bool) []string {
	var may []string
	for _, choice := range f.Choices {
		if kind == "string" {
			choice = quoted(choice)
		}
		may = append(may, choice)
	}
	if change {
		may = append(may, "null")
	}
	if len(f.Choices) == 0 {
		return nil
	}
	return []string{"enum: [" + strings.Join(may, ", ") + "]"}
}

func literal(f *setting.Field, kind string) string {
	if kind == "string" {
		return quoted(f.Default)
	}
	return f.Default
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func TestTheStatusHasTheFieldsOfTheDocument(t *testing.T) {
	admintest.HasFields(t, newGate(t).handlerWith(""), "Status", admin.StatusJSON{})
}

func TestTheGateServesTheDocument(t *testing.T) {
	g := newGate(t)
	w := ask(g, http.MethodGet, "/api/v1/openapi.yaml", "")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, string(g.handlerWith("").Document), w.Body.String())
}

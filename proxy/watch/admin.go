package watch

import (
	"context"
	_ "embed" // for the document and the section
	"fmt"
	"html/template"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

var (
	//go:embed openapi.yaml
	document string
	//go:embed section.html
	sectionSource string

	section = dashboard.NewSection(sectionSource)
)

// Admin implements [feature.Administered].
func (f *Feature) Admin(admin.API) admin.Part {
	return admin.Part{Document: document, Section: f.section, Resources: []admin.Resource{
		{Pattern: "GET /api/v1/webhooks", Answer: f.getWebhooks},
		{Pattern: "POST /api/v1/webhooks/test", Answer: f.testWebhooks},
	}}
}

// getWebhooks answers with how the webhooks stand.
func (f *Feature) getWebhooks(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, f.hooks.Statuses())
}

// testWebhooks sends a test to the webhook that the query names, or to all.
func (f *Feature) testWebhooks(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	sent := f.hooks.Try(name)
	switch {
	case sent == 0 && name == "":
		reply.Problem(w, http.StatusNotFound, "There are no webhooks.")
		return
	case sent == 0:
		var names []string
		for _, h := range f.hooks.Statuses() {
			names = append(names, h.Name)
		}
		reply.Problem(w, http.StatusNotFound, fmt.Sprintf("There is no webhook %q%s. See /api/v1/webhooks.", name, admin.OrOneOf(name, names)))
		return
	}
	reply.JSON(w, SentJSON{sent})
}

// SentJSON says to how many webhooks a test is sent.
type SentJSON struct {
	Sent int `json:"sent"`
}

// section shows how the webhooks stand.
func (f *Feature) section(context.Context) (template.HTML, error) {
	return section.Show(f.hooks.Statuses())
}

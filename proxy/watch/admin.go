package watch

import (
	"context"
	_ "embed" // for the document and the section
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
	sent := f.hooks.Try(r.URL.Query().Get("name"))
	if sent == 0 {
		reply.Problem(w, http.StatusNotFound, "There is no such webhook. See /api/v1/webhooks.")
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

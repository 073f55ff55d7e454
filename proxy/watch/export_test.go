package watch

import (
	"html/template"

	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

// Section is the section of the dashboard for webhooks that stand so.
func Section(list []webhooks.Status) (template.HTML, error) { return section.Show(list) }

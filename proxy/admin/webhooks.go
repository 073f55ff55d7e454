package admin

import (
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

// getWebhooks answers with how the webhooks stand.
func (a *api) getWebhooks(w http.ResponseWriter, _ *http.Request) { reply.JSON(w, a.Gate.Webhooks()) }

// testWebhooks sends a test to the webhook that the query names, or to all.
func (a *api) testWebhooks(w http.ResponseWriter, q *http.Request) {
	sent := a.Gate.TryWebhooks(q.URL.Query().Get("name"))
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

package admin

import (
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

// getLive says that the gate runs.
func getLive(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, map[string]string{"status": "ok"})
}

// getReady says whether new visitors may be sent here. A store that does not answer is
// reported, but is no reason to send them elsewhere: visitors who are in are served, and
// the other gates have the same store.
func (a *api) getReady(w http.ResponseWriter, _ *http.Request) {
	if a.Gate.Draining() {
		reply.Problem(w, http.StatusServiceUnavailable, "The gate is about to stop.")
		return
	}
	failing := map[string]string{}
	for r := range a.Gate.Rooms() {
		if q := r.Queue(); q.StoreFailing() {
			failing[q.Name()] = q.Settings().OnStoreError.String()
		}
	}
	said := map[string]any{"status": "ok"}
	if a.Refused != nil && a.Refused() {
		said["configuration"] = "refused"
	}
	if a.Gate.RecordFailing() {
		said["status"], said["record"], said["detail"] = "degraded", "failing", "The record of waitlists and passes does not answer."
	}
	if len(failing) > 0 {
		said["status"], said["rooms"], said["detail"] = "degraded", failing, "The store does not answer. By room, who is let in meanwhile:"
	}
	reply.JSON(w, said)
}

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
	degraded := map[string]any{"status": "degraded"}
	if a.Gate.RecordFailing() {
		degraded["record"], degraded["detail"] = "failing", "The record of waitlists and passes does not answer."
	}
	if len(failing) > 0 {
		degraded["rooms"], degraded["detail"] = failing, "The store does not answer. By room, who is let in meanwhile:"
	}
	if len(degraded) > 1 {
		reply.JSON(w, degraded)
		return
	}
	reply.JSON(w, map[string]string{"status": "ok"})
}

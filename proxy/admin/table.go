package admin

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"time"
)

// getTable answers with how all rooms stand, as CSV: the numbers of the dashboard.
func (a *api) getTable(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	w.Header().Set("Content-Disposition", `inline; filename="rooms.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	out := csv.NewWriter(w)
	lines := [][]string{{
		"room", "status", "reason", "active", "total_active_users", "queued", "admitted_this_minute", "new_users_per_minute", "open_slots",
		"longest_wait_minutes", "nodes", "as_of", "age_seconds",
	}}
	for r := range a.Gate.Rooms() {
		n := r.Queue().Numbers()
		s := a.statusOf(r, n)
		lines = append(lines, []string{
			r.Queue().Name(), s.Status, string(s.Reason), strconv.Itoa(n.Active), strconv.Itoa(n.Settings.Slots()), strconv.Itoa(n.Waiting),
			strconv.Itoa(n.Admitted), strconv.Itoa(n.Settings.Allowance()), strconv.Itoa(n.Open), strconv.Itoa(s.MaxEstimatedTimeMinutes),
			strconv.Itoa(n.Nodes), s.AsOf.Format(time.RFC3339), strconv.FormatFloat(s.AgeSeconds, 'f', 1, 64),
		})
	}
	_ = out.WriteAll(lines) // whoever asked may be gone
}

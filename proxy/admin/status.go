package admin

import (
	"net/http"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/reply"
)

// statusJSON is how a room stands.
type statusJSON struct {
	Status                    string       `json:"status"`
	EventID                   string       `json:"event_id"`
	EstimatedQueuedUsers      int          `json:"estimated_queued_users"`
	EstimatedTotalActiveUsers int          `json:"estimated_total_active_users"`
	MaxEstimatedTimeMinutes   int          `json:"max_estimated_time_minutes"`
	ActiveUsers               int          `json:"activeUsers"`
	OpenSlots                 int          `json:"openSlots"`
	Buckets                   []bucketJSON `json:"buckets"`
}

type bucketJSON struct {
	Key  string `json:"key"` // the bucket's time as HTTP writes dates
	Data struct {
		Waiting       int `json:"waiting"`
		ReservedSlots int `json:"reservedSlots"`
	} `json:"data"`
}

// getStatus answers with how the room stands now. Its visitors may have older numbers.
func (a *api) getStatus(w http.ResponseWriter, q *http.Request, r Room) {
	n, err := r.Queue().CurrentNumbers(q.Context(), a.Clock())
	if err != nil {
		a.log(r).Warn("status is old", zap.Error(err))
		n = r.Queue().Numbers()
	}
	s := statusJSON{
		Status:               "not_queueing",
		EstimatedQueuedUsers: n.Waiting, EstimatedTotalActiveUsers: n.Active, ActiveUsers: n.Active, OpenSlots: n.Open,
		Buckets: make([]bucketJSON, len(n.Buckets)),
	}
	switch {
	case r.Queue().Suspended():
		s.Status = "suspended"
	case n.Queueing():
		s.Status = "queueing"
		s.MaxEstimatedTimeMinutes = n.LongestWait().Minutes
	}
	for i, b := range n.Buckets {
		s.Buckets[i].Key = b.Bucket.Time().Format(http.TimeFormat)
		s.Buckets[i].Data.Waiting = b.Waiting
		s.Buckets[i].Data.ReservedSlots = b.ReservedSlots
	}
	reply.JSON(w, s)
}

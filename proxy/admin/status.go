package admin

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/reply"
	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/room"
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
	AdmissionsPaused          bool         `json:"admissionsPaused"`
	Buckets                   []bucketJSON `json:"buckets"`
	WaitsTold                 []scoreJSON  `json:"waitsTold"`
}

// scoreJSON is what came of the waits that newcomers were told, of those whom this gate let
// in during a quarter of an hour.
type scoreJSON struct {
	From     time.Time `json:"from"`
	Visitors int       `json:"visitors"`
	InTime   int       `json:"inTime"`
	By25     int       `json:"by25Percentile,omitempty"`
	By75     int       `json:"by75Percentile,omitempty"`
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
		Buckets: bucketTable(n),
	}
	switch {
	case r.Queue().Suspended():
		s.Status = "suspended"
	case n.Queueing():
		s.Status = "queueing"
		s.MaxEstimatedTimeMinutes = n.LongestWait().Minutes
	}
	s.AdmissionsPaused = n.Paused || n.Settings.QueueAll
	quarters, _ := r.Queue().Scores()
	s.WaitsTold = make([]scoreJSON, len(quarters))
	for i, q := range quarters {
		s.WaitsTold[i] = scoreJSON{q.From.Time(), q.Visitors, q.InTime, q.By25, q.By75}
	}
	reply.JSON(w, s)
}

// bucketTable sums fine buckets up: each of its rows has a whole longest bucket.
func bucketTable(n *room.Numbers) []bucketJSON {
	table, row := []bucketJSON{}, queue.Instant(0)
	for _, b := range n.Buckets {
		if begin := b.Bucket.Floor(n.Settings.LongestBucket()); begin != row {
			row = begin
			table = append(table, bucketJSON{Key: begin.Time().Format(http.TimeFormat)})
		}
		data := &table[len(table)-1].Data
		data.Waiting += b.Waiting
		data.ReservedSlots += b.ReservedSlots
	}
	return table
}

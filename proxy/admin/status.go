package admin

import (
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// What a room can be said to be.
const (
	notQueueing = "not_queueing"
	queueing    = "queueing"
	suspended   = "suspended"

	eventPrequeueing = "event_prequeueing"
)

// StatusJSON is how a room stands.
type StatusJSON struct {
	Status                    string          `json:"status"`
	Reason                    estimate.Reason `json:"reason"`
	ReasonText                string          `json:"reasonText"`
	EventID                   string          `json:"event_id"`
	EstimatedQueuedUsers      int             `json:"estimated_queued_users"`
	EstimatedTotalActiveUsers int             `json:"estimated_total_active_users"`
	MaxEstimatedTimeMinutes   int             `json:"max_estimated_time_minutes"`
	ActiveUsers               int             `json:"activeUsers"`
	OpenSlots                 int             `json:"openSlots"`
	AdmittedThisMinute        int             `json:"admittedThisMinute"`
	AdmissionsPaused          bool            `json:"admissionsPaused"`
	AsOf                      time.Time       `json:"asOf"`       // by the store's clock
	AgeSeconds                float64         `json:"ageSeconds"` // of the numbers
	Nodes                     int             `json:"nodes"`      // gates that reported lately
	Buckets                   []bucketJSON    `json:"buckets"`
	Waits                     waitsJSON       `json:"waits"`
	WaitsTold                 []scoreJSON     `json:"waitsTold"`

	OpenToAll       bool        `json:"openToAll"`        // everybody is let in and nobody is counted, because few come
	AdmissionFactor float64     `json:"admissionFactor"`  // what admission control leaves of new_users_per_minute
	Origin          *originJSON `json:"origin,omitempty"` // as this gate has measured it; of a room with admission_control or shadow
	Explanation     string      `json:"explanation,omitempty"`

	ItemsLeft *int        `json:"itemsLeft"` // by the origin; null if it has not said
	Items     queue.Items `json:"items"`     // that people who wait are told
	SoldOut   bool        `json:"soldOut"`   // the room is closed for it

	Origins []Origin `json:"origins"`

	// MessageOutOfDate says that what people read beside an operator's message has changed by itself; "" where it has not.
	MessageOutOfDate string `json:"messageOutOfDate"`
}

// waitsJSON are the waits of those whom this gate has let in from the line within waitsOver.
type waitsJSON struct {
	Visitors int              `json:"visitors"`
	Told     *percentilesJSON `json:"told,omitempty"` // as they came; nil if nobody was told a wait
	Waited   *percentilesJSON `json:"waited,omitempty"`
	Knew     int              `json:"visitorsTold,omitempty"` // who were told a wait
	InTime   int              `json:"inTime,omitempty"`       // of those
}

type percentilesJSON struct {
	P50 int `json:"p50Seconds"`
	P95 int `json:"p95Seconds"`
}

// waitsOver is the time of whose waits the percentiles are told.
const waitsOver = time.Hour

// waitsIn are the waits of some minutes of a record.
func waitsIn(minutes []record.Minute) waitsJSON {
	sum := record.Sum(minutes)
	percentiles := func(of waits.Counts) *percentilesJSON {
		if of.Visitors() == 0 {
			return nil
		}
		return &percentilesJSON{int(of.Percentile(.5).Seconds()), int(of.Percentile(.95).Seconds())}
	}
	return waitsJSON{Visitors: sum.Waits.Visitors(), Told: percentiles(sum.Told), Waited: percentiles(sum.Waits), Knew: sum.Score.Visitors, InTime: sum.Score.InTime}
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
func (a *api) getStatus(w http.ResponseWriter, r *http.Request, of Room) {
	n, err := of.Queue().CurrentNumbers(r.Context(), a.Clock())
	if err != nil {
		a.log(of).Warn("status is old", zap.Error(err))
		n = of.Queue().Numbers()
	}
	s, now := a.statusOf(of, n), a.Clock()
	s.Waits = waitsIn(a.Record.Excerpt(of.Queue().Name(), now.Add(-waitsOver), now.Add(time.Second)).Minutes)
	reply.JSON(w, s)
}

// statusOf is how a room stands by its numbers n, without its Waits.
func (a *api) statusOf(of Room, n *estimate.Numbers) StatusJSON {
	reason := n.Reason()
	s := StatusJSON{
		Status: notQueueing, Reason: reason, ReasonText: reason.Sentence(),
		EstimatedQueuedUsers: n.Waiting, EstimatedTotalActiveUsers: n.Active, ActiveUsers: n.Active, OpenSlots: n.Open,
		AdmittedThisMinute: n.Admitted, AdmissionsPaused: n.Paused || n.Settings.HoldsNew(),
		AsOf: n.At.Time(), AgeSeconds: of.Queue().Age(a.Clock(), n).Seconds(), Nodes: n.Nodes,
		Buckets: bucketTable(n), Origins: of.Origins(),
	}
	if most := n.Settings.Slots(); reason == estimate.LimitReached && n.Active > most {
		s.ReasonText = fmt.Sprintf("More people are in than the limit now allows: %d, of at most %d (total_active_users). Nobody is thrown out, and nobody is let in until fewer than %d are in.", n.Active, most, most)
	}
	s.ReasonText += endOf(of, reason)
	switch {
	case of.Queue().Suspended():
		s.Status = suspended
	case n.Queueing():
		s.Status = queueing
		s.MaxEstimatedTimeMinutes = n.LongestWait().Minutes
	}
	if e := &n.Settings.Event; e.Name != "" {
		if s.EventID = e.Name; e.Prequeueing {
			s.Status, s.MaxEstimatedTimeMinutes = eventPrequeueing, 0
		}
	}
	if n.Stock.Known() {
		s.ItemsLeft = &n.Stock.Left
	}
	s.SoldOut, s.Items = n.Settings.SoldOut(n.Stock), n.Items()
	if n.Settings.Message != "" && !of.Queue().StoreFailing() {
		s.MessageOutOfDate = overrides.Of(of.Describe().Configuration).OutOfDate(&n.Settings, reason)
	}
	quarters, _ := of.Queue().Scores()
	s.WaitsTold = make([]scoreJSON, len(quarters))
	for i, q := range quarters {
		s.WaitsTold[i] = scoreJSON{q.From.Time(), q.Visitors, q.InTime, q.By25, q.By75}
	}
	s.addPressure(n, of.Queue().Slowed())
	return s
}

// holding are the settings by which operators hold people, by what a room with them tells.
var holding = map[estimate.Reason]string{estimate.QueueAll: "queue_all", estimate.ActiveHeld: "hold_active"}

// endOf says when a hold of operators ends; "" where people wait for something else.
func endOf(of Room, why estimate.Reason) string {
	setting, holds := holding[why]
	if !holds {
		return ""
	}
	until := overrides.Of(of.Describe().Configuration).By[setting].Until
	if until.IsZero() {
		return " This lasts until somebody ends it."
	}
	return " This ends by itself: " + until.UTC().Format(time.RFC3339) + "."
}

// bucketTable sums fine buckets up: each of its rows has a whole longest bucket.
func bucketTable(n *estimate.Numbers) []bucketJSON {
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

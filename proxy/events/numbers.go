package events

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// frame is an event that many streams send.
type frame struct {
	text   []byte
	change int // how often the numbers had changed
}

// numbersJSON has the numbers of a room that all its visitors get.
type numbersJSON struct {
	QueueingMethod queue.Method `json:"queueingMethod"`
	UsersQueued    int          `json:"usersQueued"`
	Paused         bool         `json:"admissionsPaused"`
	Prequeueing    bool         `json:"isEventPrequeueing"`
	UntilStart     int          `json:"timeUntilEventStart"` // in minutes, rounded up
	*pauseJSON
	*lineJSON
	*waitJSON
	*leftJSON
	Items   queue.Items  `json:"items,omitempty"`
	Buckets []bucketJSON `json:"buckets,omitempty"`
}

// pauseJSON says why nobody new is let in, and since when.
type pauseJSON struct {
	PausedBy    estimate.Pause `json:"pausedBy"`
	PausedSince string         `json:"pausedSince"` // in RFC 3339; "" where it is not known
}

// lineJSON has the numbers of an exact line. A visitor who waits there with the default
// priority has about usersPreferred + their own number - firstWaitingNumber ahead.
type lineJSON struct {
	FirstWaitingNumber uint64 `json:"firstWaitingNumber"`
	LastWaitingNumber  uint64 `json:"lastWaitingNumber"`
	UsersPreferred     int    `json:"usersPreferred"`
}

// waitJSON has the wait of everyone, where every check-in is a draw.
type waitJSON struct {
	WaitTimeKnown        bool `json:"waitTimeKnown"`
	WaitTime             int  `json:"waitTime"`
	WaitTime25Percentile int  `json:"waitTime25Percentile"`
	WaitTime50Percentile int  `json:"waitTime50Percentile"`
	WaitTime75Percentile int  `json:"waitTime75Percentile"`
}

// leftJSON has what the origin has said is left.
type leftJSON struct {
	ItemsLeftKnown bool `json:"itemsLeftKnown"`
	ItemsLeft      int  `json:"itemsLeft"`
}

// bucketJSON has the people ahead and the wait of somebody who arrived at a moment, where
// buckets are in order. Those who arrived between two such moments have numbers in between.
type bucketJSON struct {
	Key           time.Time `json:"key"`
	UsersAhead    int       `json:"usersAhead"`
	WaitTimeKnown bool      `json:"waitTimeKnown"`
	WaitTime      int       `json:"waitTime"` // in minutes
}

// maxBuckets is how many moments an event has.
const maxBuckets = 60

// numbersOf are a room's numbers, without their time.
func numbersOf(n *estimate.Numbers) numbersJSON {
	method := n.Settings.Method
	j := numbersJSON{QueueingMethod: method, UsersQueued: n.Waiting, Paused: n.Paused || n.Settings.HoldsNew(), Items: n.Items()}
	if n.Pause != estimate.NoPause {
		j.pauseJSON = &pauseJSON{n.Pause, n.PausedSinceTime()}
	}
	if n.Stock.Known() {
		j.leftJSON = &leftJSON{true, n.Stock.Left}
	}
	if e := &n.Settings.Event; e.Prequeueing {
		j.Prequeueing, j.UntilStart = true, e.MinutesUntilStart(n.At)
	}
	switch {
	case method.HasExactLine():
		j.lineJSON = &lineJSON{n.Line.First, n.Line.Last, n.Line.Preferred}
	case method.Draws():
		w := n.WaitToDraw(false)
		j.waitJSON = &waitJSON{w.Known, w.Minutes, w.P25, w.P50, w.P75}
	case method.OrdersBuckets() && !n.Incomplete: // nobody's place is known otherwise
		j.Buckets = bucketsJSON(n)
	}
	return j
}

// tellsLike reports whether a page that has been told j learns nothing new from o. The time of the
// last bucket does not count: while nobody arrives, it is the present.
func (j *numbersJSON) tellsLike(o *numbersJSON) bool {
	a, b := *j, *o
	a.Buckets, b.Buckets = withoutEnd(j.Buckets), withoutEnd(o.Buckets)
	return reflect.DeepEqual(a, b)
}

// withoutEnd are the buckets without the key of the last one.
func withoutEnd(buckets []bucketJSON) []bucketJSON {
	buckets = slices.Clone(buckets)
	if last := len(buckets) - 1; last >= 0 {
		buckets[last].Key = time.Time{}
	}
	return buckets
}

func bucketsJSON(n *estimate.Numbers) []bucketJSON {
	moments := n.Moments(maxBuckets)
	buckets := make([]bucketJSON, len(moments))
	for i, at := range moments {
		ahead, _ := n.Ahead(at)
		w := n.Wait(at)
		buckets[i] = bucketJSON{at.Time(), ahead, w.Known, w.Minutes}
	}
	return buckets
}

// frame is the event of the numbers at a time, after so many changes.
func (j *numbersJSON) frame(at queue.Instant, change int) *frame {
	text, err := json.Marshal(struct {
		*numbersJSON
		LastUpdated time.Time `json:"lastUpdated"`
	}{j, at.Time()})
	if err != nil {
		text = []byte("{}") // of a method without a name: there is none
	}
	return &frame{append(append([]byte("event: numbers\ndata: "), text...), "\n\n"...), change}
}

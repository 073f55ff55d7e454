// Package report sums up a time of a room from the records of its gates: who waited for how
// long, what came of what they were told, how the limits were used, and what went wrong.
//
//	report.go  the report, as JSON has it
//	make.go    how it is made of the minutes
//	queues.go  when people waited, and what is not known
//	items.go   what people were told that there was to buy
//	html.go    the report as a page that needs nothing else
//	charts.go  its pictures
package report

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

// Report is the report of a time of a room. Shares are from 0 to 1; what there is nothing to
// say of is null.
type Report struct {
	Room     string    `json:"room"`
	Event    string    `json:"event,omitempty"` // that it is of; "" for another time
	Back     string    `json:"-"`               // the page that it has a link back to; "" for none
	From     time.Time `json:"from"`
	To       time.Time `json:"to"` // the time of the report, if that is earlier than what was asked for
	Timezone string    `json:"timezone"`
	Gates    int       `json:"gates"` // whose records these are

	Known    Known           `json:"known"`
	People   People          `json:"people"`
	Waits    Waits           `json:"waits"`
	Told     *Told           `json:"told"`
	Slots    *Slots          `json:"slots"`
	Active   *record.Peak    `json:"active"`   // sessions, against total_active_users
	Admitted *record.Peak    `json:"admitted"` // in a minute, against new_users_per_minute
	Queued   *record.Peak    `json:"queued"`   // people present in line; there is no limit
	Queues   []Span          `json:"queues"`   // when people waited
	Refused  record.Refused  `json:"refused"`
	Faults   Faults          `json:"faults"`
	Items    []Item          `json:"items"` // what people who waited were told that there was to buy
	Bands    []chart.Band    `json:"bands"` // when an event, a prequeue or a hold was in force, or the room was sold out
	Changes  []record.Change `json:"changes"`
	Minutes  []record.Minute `json:"minutes"` // that all of this, and the pictures, are made of
	zone     *time.Location  // of the page
}

// Known says of how much of the time the record knows how the whole room stood.
type Known struct {
	Share float64 `json:"share"`
	Gaps  []Span  `json:"gaps"`
}

// Span is a time, and the most people who were in line in it. A gap has none.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Most int       `json:"most,omitempty"`
	// Open says that the queue was there before what is known, or is there still.
	OpenBegin bool `json:"openBegin,omitempty"`
	OpenEnd   bool `json:"openEnd,omitempty"`
}

// People are the visitors whom these gates have let in.
type People struct {
	LetIn    int `json:"letIn"`
	AtOnce   int `json:"atOnce"`         // who had not waited
	FromLine int `json:"fromLine"`       // who had
	ByStore  int `json:"countedByStore"` // admissions of the whole room, as its store counted them while it was known

	// GaveUp are those who waited and stopped checking in. Nil is not known: of several gates, none
	// knows who goes on waiting at another.
	GaveUp *int `json:"gaveUp"`
}

// Waits are those of the visitors who were let in from the line, in seconds: exact below half
// a minute, to within 3 % above.
type Waits struct {
	Visitors int   `json:"visitors"`
	P25      int   `json:"p25"`
	P50      int   `json:"p50"`
	P75      int   `json:"p75"`
	P95      int   `json:"p95"`
	Longest  int   `json:"longest"`
	Bars     []Bar `json:"bars"`
}

// Bar is how many visitors waited for so many seconds, from and up to.
type Bar struct {
	From     int `json:"from"`
	To       int `json:"to"`
	Visitors int `json:"visitors"`
}

// Told is what came of the waits that visitors were told as they arrived, in whole minutes.
type Told struct {
	Visitors    int     `json:"visitors"` // who were told a wait, and were let in
	P50         int     `json:"p50Minutes"`
	P95         int     `json:"p95Minutes"`
	InTime      float64 `json:"inTimeShare"` // were in by the time that they were told
	Near        float64 `json:"nearShare"`   // waited as long as they were told, to within 20 %
	BiasMinutes float64 `json:"biasMinutes"` // mean of told less true: more than 0 where people were told too much
	BiasShare   float64 `json:"biasShare"`   // the same, over the mean of the true waits
}

// Slots are the slots while people waited.
type Slots struct {
	QueueingSeconds float64 `json:"queueingSeconds"`
	UsedShare       float64 `json:"usedShare"` // of the slot-time that could have been used
}

// Faults are what went wrong.
type Faults struct {
	StoreFailingSeconds  float64 `json:"storeFailingSeconds"`
	StoreErrors          int     `json:"storeErrors"`
	WithoutStore         int     `json:"letInWithoutStore"`
	OriginFailingSeconds float64 `json:"originFailingSeconds"`
	OriginErrors         int     `json:"originErrors"`
}

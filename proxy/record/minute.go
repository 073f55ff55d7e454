package record

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// Minute is what a gate saw of a room in a calendar minute. Where it says nothing of a thing,
// there was none of it.
type Minute struct {
	At      time.Time `json:"at"`      // when it began, in UTC
	Seconds float64   `json:"seconds"` // of it in which the gate watched: what is missing to 60 is not known

	// Room is how the whole room stood, all gates together; nil if the gate could not know.
	Room *Standing `json:"room,omitempty"`

	// Spans are the times in which something was in force, to the second: see Bands.
	Spans []chart.Band `json:"spans,omitempty"`

	Own // what this gate has done
}

// Standing is how a whole room stood in a minute, as its store had it. Active, Queued, Open
// and the limits are of its end.
type Standing struct {
	Active     int `json:"active"`
	ActiveMost int `json:"activeMost"`
	Queued     int `json:"queued"`
	QueuedMost int `json:"queuedMost"`
	Open       int `json:"openSlots"`
	Admitted   int `json:"admitted"` // in this minute

	TotalActiveUsers  int `json:"total_active_users"` // the limits in force
	NewUsersPerMinute int `json:"new_users_per_minute"`

	// TellsMinutes is the longest wait that newcomers were told; 0 if nobody was told one.
	TellsMinutes int `json:"tellsMinutes,omitempty"`

	// While people waited: for how many seconds that was, and the slot-seconds that were
	// used and those that were open to somebody who waited.
	QueueingSeconds float64 `json:"queueingSeconds,omitempty"`
	UsedSeconds     float64 `json:"usedSlotSeconds,omitempty"`
	IdleSeconds     float64 `json:"idleSlotSeconds,omitempty"`

	Event    string `json:"event,omitempty"`    // that was in force last
	Prequeue bool   `json:"prequeue,omitempty"` // of that event, at last
	Held     bool   `json:"held,omitempty"`     // operators held everyone new at some moment, or those who are in
	SoldOut  bool   `json:"soldOut,omitempty"`  // the room was closed for it at some moment

	// Items are what people who waited were told that there was to buy, first from the beginning of the
	// minute, and then whenever it changed: at most mostOffers.
	Items []Offer `json:"items,omitempty"`
}

// Offer is what there was to buy from a moment on.
type Offer struct {
	At    time.Time       `json:"at"`
	Room  string          `json:"room,omitempty"` // of a family, that was told other than the family has it
	Items json.RawMessage `json:"items"`          // a list of queue.Item; empty of a room that was told the same as the family again
}

// Own is what one gate has done in a minute. That of several gates can be added up, but for GaveUp.
type Own struct {
	LetIn int          `json:"letIn,omitempty"` // visitors, with those who had not waited
	Waits waits.Counts `json:"waits,omitempty"` // of those who were let in from the line
	Told  waits.Counts `json:"told,omitempty"`  // the waits that those of them were told as they arrived who were told one
	Score Score        `json:"score,omitzero"`

	// GaveUp are the visitors who stopped checking in without being let in. Nil is unknown: of several
	// gates, each has visitors who go on waiting at another. Of an exact line they are not known.
	GaveUp *int `json:"gaveUp,omitempty"`

	Refused Refused `json:"refused,omitzero"`

	StoreFailingSeconds  float64 `json:"storeFailingSeconds,omitempty"`
	StoreErrors          int     `json:"storeErrors,omitempty"`       // calls that it left unanswered
	WithoutStore         int     `json:"letInWithoutStore,omitempty"` // visitors whom on_store_error let in
	OriginFailingSeconds float64 `json:"originFailingSeconds,omitempty"`
	OriginErrors         int     `json:"originErrors,omitempty"` // requests that the origin left unanswered, those of other rooms among them, as in the next three
	OriginAnswers        int     `json:"originAnswers,omitempty"`
	OriginFaults         int     `json:"originFaults,omitempty"`  // answers with a status of 5xx
	OriginSeconds        float64 `json:"originSeconds,omitempty"` // that the answers took, added up
}

// Score says what came of the waits that visitors were told: see room.Score of package
// queue/room.
type Score struct {
	Visitors      int `json:"visitors"` // who were told a wait, and had waited
	InTime        int `json:"inTime"`   // were in by the time that they were told
	Near          int `json:"near"`     // waited as long as they were told, to within a fifth
	ToldMinutes   int `json:"toldMinutes"`
	WaitedMinutes int `json:"waitedMinutes"`
}

// Refused are requests that were not let through, by why.
type Refused struct {
	Busy      int `json:"busy,omitempty"`      // they could not wait, as a form or a crawler cannot
	Rejected  int `json:"rejected,omitempty"`  // the room took nobody, or not this one
	Withheld  int `json:"withheld,omitempty"`  // parts of pages, and pages in advance, asked for without being in
	Uninvited int `json:"uninvited,omitempty"` // the room is for guests

	// Tries to get ahead that have got nobody anything.
	BadTokens  int `json:"badTokens,omitempty"`  // a token in the site's name that does not count
	BadTickets int `json:"badTickets,omitempty"` // a ticket that does not open
	Crowded    int `json:"crowded,omitempty"`    // a place that did not count: max_waiting_per_network
}

// Change is something that somebody has changed of a room.
type Change struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`             // an operator's address, behind their name if they gave one, or "file"
	What string    `json:"what"`           // the name of a setting, or what was done to a visitor
	From string    `json:"from,omitempty"` // the value before; empty for none
	To   string    `json:"to,omitempty"`
	Was  string    `json:"was,omitempty"` // a planned event as it was before, as JSON
}

// stamped are the moments in a change of an event.
var stamped = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// WithMoments is what something was before a change, or after it, with its moments as people read them.
func WithMoments(text string, write func(time.Time) string) string {
	return stamped.ReplaceAllStringFunc(text, func(stamp string) string {
		at, err := time.Parse(time.RFC3339, stamp)
		if err != nil {
			return stamp
		}
		return write(at)
	})
}

// AuthorInWords is who has made a change: operators who give no name are known by their address alone.
func AuthorInWords(by string) string {
	if _, err := netip.ParseAddr(by); err == nil {
		return "an operator at " + by
	}
	return by
}

// Excerpt is what a record has of a room in a time, in order.
type Excerpt struct {
	Minutes []Minute `json:"minutes"`
	Changes []Change `json:"changes"`
}

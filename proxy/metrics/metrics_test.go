package metrics_test

import (
	"iter"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// gate is a gate of one family without rooms.
type gate struct{}

func (gate) Groups() iter.Seq[metrics.Group] {
	return func(yield func(metrics.Group) bool) {
		yield(metrics.Group{Name: "chat", MaxRooms: 7, Unanswered: 3, LetIn: 2})
	}
}

func (gate) Origins() iter.Seq2[string, bool] {
	return maps.All(map[string]bool{"http://site.test": true})
}

// exposition is what Prometheus reads.
func exposition(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func TestDecisionsAreCountedByWhatBecameOfTheVisitor(t *testing.T) {
	for outcome, d := range map[string]room.Decision{
		"accepted": {Outcome: room.Admitted},
		"admitted": {Outcome: room.Admitted, Fresh: true, Waited: time.Minute},
		"queued":   {Outcome: room.Queued},
		"rejected": {Outcome: room.Rejected},
		"busy":     {Outcome: room.Busy},
	} {
		t.Run(outcome, func(t *testing.T) {
			m := metrics.New(gate{})
			c := m.Room("shop")
			c.CountDecision(metrics.ResultOf(d), d)
			text := exposition(m)
			assert.Contains(t, text, `fairdoor_decisions_total{outcome="`+outcome+`",room="shop"} 1`)
			waited := `fairdoor_wait_seconds_sum{room="shop"} 0`
			if d.Fresh {
				waited = `fairdoor_wait_seconds_sum{room="shop"} 60`
			}
			assert.Contains(t, text, waited)
		})
	}
}

func TestFamilyWithoutRoomsTellsWhatItsRoomsThatAreGoneHave(t *testing.T) {
	text := exposition(metrics.New(gate{}))
	for _, line := range []string{
		`fairdoor_family_rooms{room="chat"} 0`, `fairdoor_family_rooms_limit{room="chat"} 7`,
		`fairdoor_store_errors_total{room="chat"} 3`, `fairdoor_admitted_without_store_total{room="chat"} 2`,
		`fairdoor_origin_failing{origin="http://site.test"} 1`,
	} {
		assert.Contains(t, text, line+"\n")
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	c := metrics.New(gate{}).Room("shop")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		c.Count(metrics.Exempt)
		c.CountDecision(metrics.Admitted, room.Decision{Outcome: room.Admitted, Fresh: true, Waited: time.Minute})
	}))
}

func TestWhatAnOriginTookIsAddedUpForAsLongAsAGateRuns(t *testing.T) {
	m := metrics.New(gate{})
	took := m.Origin("shop").Answered
	for range 3 {
		took(http.StatusBadGateway, math.MaxInt64) // 292 years: more of them do not fit a Duration
	}
	a := m.OriginAnswers("shop")
	assert.EqualValues(t, 3, a.Faults)
	assert.InEpsilon(t, 3*9.2e9, a.Seconds, .01)
}

package metrics

import (
	"iter"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Gate tells how its rooms, its waitlists and its origins stand.
type Gate interface {
	// Groups returns the rooms and the families, each name once.
	Groups() iter.Seq[Group]
	// Waitlists returns the waitlists.
	Waitlists() iter.Seq[Waitlist]
	// RecordFailing reports whether the record of waitlists and passes does not answer.
	RecordFailing() bool
	// Webhooks says how the webhooks stand.
	Webhooks() []webhooks.Status
	// Origins returns the origins by their addresses, and whether each is failing.
	Origins() iter.Seq2[string, bool]
}

// Group is a room, or all rooms of a family together: a label for each of those would
// be one for whatever strangers ask for.
type Group struct {
	Name     string
	Rooms    []Room
	Streams  int // the open event streams
	MaxRooms int // how many rooms a family may have; 0 for a room that is in none

	// Unanswered and LetIn sum up what StoreErrors returned for rooms that are gone, Told,
	// InTime and Near what Scores did.
	Unanswered, LetIn  uint64
	Told, InTime, Near int
}

// Room is what the metrics ask of a [room.Room].
type Room interface {
	Numbers() *estimate.Numbers
	StoreFailing() bool
	StoreErrors() (calls, letIn uint64)
	Scores() (quarters []estimate.Score, total estimate.Score)
	Slowed() room.Slowdown
	OpenToAll() bool
}

// collector collects how the rooms, the waitlists and the origins stand when Prometheus asks.
type collector struct {
	gate Gate
	waitlists
}

var (
	queuedDesc     = roomDesc("fairdoor_queued_users", "People present in line.")
	activeDesc     = roomDesc("fairdoor_active_users", "Sessions that hold a slot.")
	openDesc       = roomDesc("fairdoor_open_slots", "Slots that are open.")
	limitDesc      = roomDesc("fairdoor_total_active_users_limit", "The limit total_active_users in force.")
	minuteDesc     = roomDesc("fairdoor_admitted_this_minute", "Admissions in this calendar minute.")
	perMinuteDesc  = roomDesc("fairdoor_new_users_per_minute_limit", "The limit new_users_per_minute in force.")
	failingDesc    = roomDesc("fairdoor_store_failing", "1 while the store does not answer.")
	unansweredDesc = roomDesc("fairdoor_store_errors_total", "Calls that the store left unanswered.")
	letInDesc      = roomDesc("fairdoor_admitted_without_store_total", "Visitors let in by on_store_error.")
	roomsDesc      = roomDesc("fairdoor_family_rooms", "Rooms that there are, of those with braces in their path.")
	maxRoomsDesc   = roomDesc("fairdoor_family_rooms_limit", "The limit max_rooms.")
	streamsDesc    = roomDesc("fairdoor_event_streams", "Open event streams.")
	toldDesc       = roomDesc("fairdoor_waits_told_total", "Visitors let in who had waited and been told a wait as they arrived.")
	inTimeDesc     = roomDesc("fairdoor_waits_in_time_total", "Of those, who were in by the time that they were told; in random by the 50 percentile.")
	nearDesc       = roomDesc("fairdoor_waits_near_total", "Of those, who waited for as long as they were told, to within a fifth of the wait; in random from the 25 to the 75 percentile.")
	factorDesc     = roomDesc("fairdoor_admission_factor", "What admission control leaves of new_users_per_minute; 1 for all of it.")
	latencyDesc    = roomDesc("fairdoor_origin_latency_seconds", "Time within which the origin has answered 95 of 100 requests of visitors who are in, lately, as this gate has measured.")
	errorsDesc     = roomDesc("fairdoor_origin_error_ratio", "Share of those requests that the origin has failed to answer well, lately.")
	openToAllDesc  = roomDesc("fairdoor_open_to_all", "1 while everybody is let in and nobody is counted, because the traffic has not passed queue_when.")
	pausedDesc     = roomDesc("fairdoor_admissions_paused", "1 while no origin of the room answers and nobody new is let in.")
	recordDesc     = prometheus.NewDesc("fairdoor_record_failing", "1 while the record of waitlists and passes does not answer.", nil, nil)
	originDesc     = prometheus.NewDesc("fairdoor_origin_failing", "1 while the origin does not answer.", []string{"origin"}, nil)
)

func roomDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"room"}, nil)
}

// Describe implements prometheus.Collector.
func (*collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		queuedDesc, activeDesc, openDesc, limitDesc, minuteDesc, perMinuteDesc, failingDesc,
		unansweredDesc, letInDesc, roomsDesc, maxRoomsDesc, streamsDesc, toldDesc, inTimeDesc, nearDesc, originDesc, recordDesc,
		factorDesc, latencyDesc, errorsDesc, openToAllDesc, pausedDesc,
	} {
		to <- d
	}
	for _, d := range slices.Concat(waitlistDescs, webhookDescs) {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	for g := range c.gate.Groups() {
		g.collect(to)
	}
	c.collectWaitlists(to, c.gate.Waitlists())
	collectWebhooks(to, c.gate.Webhooks())
	for address, failing := range c.gate.Origins() {
		to <- prometheus.MustNewConstMetric(originDesc, prometheus.GaugeValue, oneIf(failing), address)
	}
	to <- prometheus.MustNewConstMetric(recordDesc, prometheus.GaugeValue, oneIf(c.gate.RecordFailing()))
}

func (g *Group) collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, g.Name)
	}
	n := g.sum()
	gauge(queuedDesc, float64(n.waiting))
	gauge(activeDesc, float64(n.active))
	gauge(openDesc, float64(n.open))
	gauge(limitDesc, float64(n.limit))
	gauge(minuteDesc, float64(n.admitted))
	gauge(perMinuteDesc, float64(n.perMinute))
	gauge(streamsDesc, float64(g.Streams))
	gauge(failingDesc, oneIf(n.failing))
	gauge(pausedDesc, oneIf(n.paused))
	to <- prometheus.MustNewConstMetric(unansweredDesc, prometheus.CounterValue, float64(n.unanswered), g.Name)
	to <- prometheus.MustNewConstMetric(letInDesc, prometheus.CounterValue, float64(n.letIn), g.Name)
	to <- prometheus.MustNewConstMetric(toldDesc, prometheus.CounterValue, float64(n.told), g.Name)
	to <- prometheus.MustNewConstMetric(inTimeDesc, prometheus.CounterValue, float64(n.inTime), g.Name)
	to <- prometheus.MustNewConstMetric(nearDesc, prometheus.CounterValue, float64(n.near), g.Name)
	gauge(factorDesc, n.factor)
	gauge(openToAllDesc, oneIf(n.openToAll))
	if n.measured {
		gauge(latencyDesc, n.latency.Seconds())
		gauge(errorsDesc, n.errors)
	}
	if g.MaxRooms > 0 {
		gauge(roomsDesc, float64(len(g.Rooms)))
		gauge(maxRoomsDesc, float64(g.MaxRooms))
	}
}

// sum is how the rooms of a group stand together.
type sum struct {
	waiting, active, open, limit, admitted, perMinute int

	failing, paused    bool // one of them
	unanswered, letIn  uint64
	told, inTime, near int

	factor    float64 // the lowest
	openToAll bool    // one of them
	measured  bool    // one of them
	latency   time.Duration
	errors    float64 // as latency, the highest
}

func (g *Group) sum() sum {
	all := sum{unanswered: g.Unanswered, letIn: g.LetIn, told: g.Told, inTime: g.InTime, near: g.Near, factor: 1}
	for _, r := range g.Rooms {
		n := r.Numbers()
		all.waiting += n.Waiting
		all.active += n.Active
		all.open += n.Open
		all.limit += n.Settings.Slots()
		all.admitted += n.Admitted
		all.perMinute += n.Settings.Allowance()
		all.failing = all.failing || r.StoreFailing()
		all.paused = all.paused || n.Paused
		unanswered, letIn := r.StoreErrors()
		all.unanswered += unanswered
		all.letIn += letIn
		all.addOrigin(r)
		_, score := r.Scores()
		all.told, all.inTime, all.near = all.told+score.Visitors, all.inTime+score.InTime, all.near+score.Near
	}
	return all
}

// addOrigin takes in how the origin does with a room.
func (s *sum) addOrigin(r Room) {
	slowed := r.Slowed()
	s.factor, s.openToAll = min(s.factor, slowed.Factor), s.openToAll || r.OpenToAll()
	s.measured = s.measured || slowed.Here.Requests > 0
	s.latency, s.errors = max(s.latency, slowed.Here.Latency), max(s.errors, slowed.Here.Errors)
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

package queue

import "time"

// Bounds that every store keeps to, so that a room behaves the same in each of them. The scripts of
// redisstore get them from here.
const (
	// MaxDraws is how many draws a store remembers at most.
	MaxDraws = 4096

	// PassthroughCounts is the multiple of total_active_users up to which a passthrough room counts
	// who is in.
	PassthroughCounts = 4

	// MaxExpired is how many places of an exact line that may have ended a call looks at, beside
	// one for each claim, so that a crowd that leaves does not hold up the others.
	MaxExpired = 500

	// The rate of admissions is measured over RateWaves session durations, because people leave in
	// the waves in which they came: over MinMeasured whole minutes at least and MaxMeasured at
	// most.
	RateWaves   = 5
	MinMeasured = 15
	MaxMeasured = 60

	// Lately is for how long after an admission, a goodbye or a node's report a view has it.
	Lately = 10 * time.Second
	// ReportTime is within how long a few nodes report that a session has ended whose slot somebody
	// waits for.
	ReportTime = 250 * time.Millisecond

	// NodeRemembered is for how long a store remembers a node that reports no more.
	NodeRemembered = time.Hour

	// RoomKept is for how much longer than anything in it matters a store keeps a room that has
	// more than its settings.
	RoomKept = 10 * time.Minute
	// LineKept is for how long a store that outlives its nodes keeps an exact line while none is
	// there.
	LineKept = 7 * 24 * time.Hour

	// LostNumbers is how many numbers of an exact line a store takes to have been given out that it
	// has forgotten, at most, once it hears of one that it does not know of. New ones are higher by
	// as many: so nobody gets another's, and who came before the loss is ahead.
	LostNumbers = 100_000

	// A store that heard of no gate for longer than Silence takes it that none ran. MaxGaps is how
	// many such times it remembers at most. Of more, the oldest is made longer by the second, which
	// is dropped. So what lies that many back may seem older than it is, but never younger than it
	// once was: a number may be lost too soon, but none is honoured again that a store has
	// forgotten.
	Silence = 2 * time.Second
	MaxGaps = 32

	// CalmTime is for how long a room has to be calm before it is open again, where it counts only
	// from QueueWhen on: nobody waits, and few come. TrafficSlices are the parts of the minute in
	// which newcomers are counted for that.
	CalmTime      = 5 * time.Minute
	TrafficSlices = 12

	// MaxStandstills is how many holds that are over a store remembers at most. Max_session counts
	// the time of older ones.
	MaxStandstills = 32

	// Lull is after how many whole minutes without an admission the rate is zero.
	Lull = 5
)

package queue

// Bounds that every store keeps to, so that rooms are the same whichever they are in. The scripts of redisstore have them from here.
const (
	// MaxDraws is how many draws in random are remembered at most.
	MaxDraws = 4096

	// PassthroughCounts is the multiple of total_active_users up to which a passthrough room counts who is in.
	PassthroughCounts = 4

	// MaxExpired is how many entries of an exact line a call looks at that may have run out, beside one for each claim, so that a wave
	// of leavers holds nobody up.
	MaxExpired = 500

	// The admissions per minute are taken over so many whole minutes: RateWaves session durations, for people leave in the waves in
	// which they came, but at least MinMeasured and at most MaxMeasured.
	RateWaves   = 5
	MinMeasured = 15
	MaxMeasured = 60

	// Lull is how many minutes without an admission make the past say nothing of the wait.
	Lull = 5

	// MaxMoments bounds the work of a minute: PacingRandom releases a larger allowance in so many equal parts.
	MaxMoments = 4096

	// The random moments are drawn by a Lehmer generator (Park, Miller 1988): the next number is LehmerFactor times the one before,
	// modulo LehmerPrime. It has to be one that Lua, which has no integers beyond 2^53, can be right in.
	LehmerFactor = 48271
	LehmerPrime  = 1<<31 - 1
)

// Package pressure knows from the requests of a room's visitors how its origin is doing, and
// what follows from it for admissions.
//
// # Measuring
//
// A [Meter] measures the requests of visitors who are in, as they go to the origin and as the
// header of the answer comes back. It allocates nothing, and its locks are shared by the
// requests of one visitor only. The latencies and failures that it tells are those of all requests.
//
// The origin is judged by those that count. Paths fall into [groups], and of each visitor only the
// first request for a group counts in a period. It counts as slow once it is older than the bound,
// also while it is not answered. Each visitor has one vote: equal parts of it for what they asked
// for. So whoever asks much has no more weight than others. A bound is passed only if requests of
// at least [slowest] visitors are bad, so that a few who ask for what is slow or fails keep nobody
// out. The path with the most bad votes is left out unless most votes are for it: one slow report
// of a shop is no reason to keep people from its other pages. Of very many visitors, those who come
// first in a period are judged by, up to [entries].
//
// # Slowing admissions
//
// A [Control] has the factor by which a node would have admissions slowed. It looks once in
// [Every]. If a bound is passed, it halves the factor; if not, or if there are too few requests to
// tell, it adds [Step] until nothing is slowed any more. While the latency is below its bound by
// less than a quarter, the factor stays as it is. That is additive increase, multiplicative
// decrease (Chiu, Jain 1989). The factor never falls below [Least], and a room admits one visitor a
// minute at least: so somebody finds out when the origin is better. [Recovers] is how long it takes
// at most until nothing is slowed, once all is well.
//
// Each node has its own factor, and the room goes by the lowest. An overloaded origin costs
// everybody's visit, and slowed admissions only some time in line; and where each gate has
// an origin of its own, a mean would never relieve the one that is overloaded. All nodes
// halve their own factor, not that of the room. So a room with many nodes is slowed no
// faster than one with a single node.
//
// # Proposing limits
//
// A [Shadow] keeps how fast the origin answered with how many people in the room. The
// proposal for total_active_users is the knee of that curve: where the line through the
// latencies bends upwards. It is found by fitting two lines that meet, to the median
// latency at each number of people. Two lines say nothing about why an origin gets slow. The
// Universal Scalability Law does, and needs the concurrency and the throughput for it, while
// a gate limits sessions. The medians make single slow answers harmless. If latency has not
// risen by half behind the knee, or one line fits nearly as well as two, no knee was seen, and
// the limits are proposed as "at least" what came.
package pressure

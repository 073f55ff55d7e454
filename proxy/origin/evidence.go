package origin

import (
	"context"
	"hash/maphash"
	"math/bits"
	"net/http"
	"net/netip"
	"sync/atomic"
)

// The thresholds by which visitors show that an origin fails although it answers the gate's probes:
// all of them have to be met within the latest window. One visitor, one client or one path is never
// enough.
const (
	windowTicks    = 10 // the window's length in probe intervals, between half of that and all of it
	failedVisitors = 5  // at least so many visitors got no answer to any of their requests
	failedClients  = 3  // at least so many addresses had failures; of IPv6, /48 networks: one subscriber or hoster often has all of one
	failedPaths    = 3  // at least so many paths had failures
	answeredShare  = 4  // at most one in so many of the visitors was answered
)

// witness is an admitted visitor, whose requests show whether the origin fails. Visitor and client
// are hashes.
type witness struct{ visitor, client uint64 }

type witnessKey struct{}

// Counted returns the request of an admitted visitor as one whose outcome counts towards whether
// the origin fails. While nothing has failed lately it is r itself. Requests that are not given to
// Counted never count, because nobody knows who sends them.
func (o *Origin) Counted(r *http.Request, visitor [16]byte) *http.Request {
	if !o.breaker.watching.Load() {
		return r
	}
	client := o.trust.ClientAddr(r)
	if client.Is6() {
		client = netip.PrefixFrom(client, 48).Masked().Addr()
	}
	seed := o.breaker.seed
	w := witness{visitor: maphash.Comparable(seed, visitor), client: maphash.Comparable(seed, client)}
	return r.WithContext(context.WithValue(r.Context(), witnessKey{}, w))
}

// witnessOf returns whose request it is. It is not ok for a request that does not count.
func witnessOf(r *http.Request) (w witness, ok bool) {
	w, ok = r.Context().Value(witnessKey{}).(witness)
	return w, ok
}

// tally counts the outcomes of the requests that counted during half a window. It takes 2 KiB,
// however many there are. With more than some thousand visitors it counts too few. It is safe for
// concurrent use.
type tally struct {
	answered, failed sketch      // visitors
	clients, paths   sketch      // of the failures
	any              atomic.Bool // something failed, whether it counted or not
}

func (t *tally) clear() {
	t.any.Store(false)
	for _, s := range [...]*sketch{&t.answered, &t.failed, &t.clients, &t.paths} {
		for i := range s {
			s[i].Store(0)
		}
	}
}

// sketch is a set of hashes of 12 bits.
type sketch [64]atomic.Uint64

// add writes only what is new, so that a word stays in the caches of all processors while the same
// hashes are added.
func (s *sketch) add(hash uint64) {
	word, bit := &s[hash>>58], uint64(1)<<(hash>>52&63)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// mostFail reports whether the halves of a window show an origin that fails.
func mostFail(halves *[2]tally) bool {
	visitors, all, clients, paths := 0, 0, 0, 0
	a, b := &halves[0], &halves[1]
	for i := range a.failed {
		failed, answered := a.failed[i].Load()|b.failed[i].Load(), a.answered[i].Load()|b.answered[i].Load()
		visitors += bits.OnesCount64(failed &^ answered)
		all += bits.OnesCount64(failed | answered)
		clients += bits.OnesCount64(a.clients[i].Load() | b.clients[i].Load())
		paths += bits.OnesCount64(a.paths[i].Load() | b.paths[i].Load())
	}
	return visitors >= failedVisitors && clients >= failedClients && paths >= failedPaths &&
		(all-visitors)*answeredShare <= all
}

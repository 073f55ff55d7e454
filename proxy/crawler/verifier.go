package crawler

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Bounds of what a Verifier asks and keeps.
const (
	maxUnderWay = 64              // lookups at a time
	maxKnown    = 8192            // addresses of which it knows whose they are, or whose they are not
	patience    = 2 * time.Second // for the two questions of a lookup
	maxNames    = 4               // of an address, that are looked at

	ownedLasts   = 12 * time.Hour // how long an answer holds
	strangeLasts = time.Hour
	failedLasts  = time.Minute
)

// Resolver answers questions to DNS; a net.Resolver is one.
type Resolver interface {
	LookupAddr(ctx context.Context, addr string) (names []string, err error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config is what a Verifier works with.
type Config struct {
	Resolver Resolver         // default net.DefaultResolver
	Clock    func() time.Time // required

	// Enter says whether the address of a stranger may be looked up now; its network may have had
	// its share. If it may, leave is called once it is. Required.
	Enter func(netip.Addr) (leave func(), ok bool)
}

// Verifier finds out which addresses are a crawler's, by forward-confirmed reverse DNS: the name of
// the address is one that the operator publishes, and the name has the address. It asks in the
// background. Make one by NewVerifier, and end it by Close. It is safe for concurrent use.
type Verifier struct {
	c       Config
	ctx     context.Context // of the lookups
	stop    context.CancelFunc
	lookups sync.WaitGroup

	mu       sync.Mutex
	known    map[netip.Addr]verdict
	underWay int
}

// verdict is whose an address is.
type verdict struct {
	of      *operator // nil for nobody's that we know
	until   time.Time // then it is looked up again
	pending bool      // it is looked up just now
}

// NewVerifier returns a Verifier that knows no address yet.
func NewVerifier(c Config) *Verifier {
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	v := &Verifier{c: c, known: map[netip.Addr]verdict{}}
	v.ctx, v.stop = context.WithCancel(context.Background())
	return v
}

// Close ends the lookups that are under way, and waits for that. Nothing is looked up any more.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.stop() // no lookup begins from now on
	v.mu.Unlock()
	v.lookups.Wait()
}

// Verified says whether a User-Agent names a crawler and the address is known to be its operator's.
// It never waits: if it is the first to ask about an address, the address is looked up, and counts
// as a stranger's until that is done.
func (v *Verifier) Verified(userAgent string, addr netip.Addr) bool {
	claimed := operatorOf(userAgent)
	if claimed == nil || claimed.hosts == nil || !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	now := v.c.Clock()
	v.mu.Lock()
	defer v.mu.Unlock()
	found := v.known[addr]
	if !found.pending && !now.Before(found.until) {
		v.begin(addr, found, now)
	}
	return found.of == claimed
}

// begin begins to look up an address whose verdict is out of date, if it may. The verdict holds
// until there is another one. The caller holds mu.
func (v *Verifier) begin(addr netip.Addr, old verdict, now time.Time) {
	if v.underWay == maxUnderWay || v.ctx.Err() != nil || !v.hasSpace(addr, now) {
		return
	}
	leave, ok := v.c.Enter(addr)
	if !ok {
		return
	}
	v.underWay++
	old.pending = true
	v.known[addr] = old
	v.lookups.Go(func() {
		defer leave()
		v.lookUp(addr)
	})
}

// hasSpace says whether the verdict on an address can be kept. If there are too many, those on
// strangers go, and those that are out of date. The caller holds mu.
func (v *Verifier) hasSpace(addr netip.Addr, now time.Time) bool {
	if _, ok := v.known[addr]; ok || len(v.known) < maxKnown {
		return true
	}
	for other, found := range v.known {
		if !found.pending && (found.of == nil || !now.Before(found.until)) {
			delete(v.known, other)
		}
	}
	return len(v.known) < maxKnown
}

// lookUp asks whose an address is, and keeps the verdict.
func (v *Verifier) lookUp(addr netip.Addr) {
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	of, lasts := v.ask(ctx, addr)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.underWay--
	v.known[addr] = verdict{of: of, until: v.c.Clock().Add(lasts)}
}

// ask returns whose an address is, and how long that holds.
func (v *Verifier) ask(ctx context.Context, addr netip.Addr) (of *operator, lasts time.Duration) {
	names, err := v.c.Resolver.LookupAddr(ctx, addr.String())
	if failed(err) {
		return nil, failedLasts
	}
	for _, name := range names[:min(len(names), maxNames)] {
		of := ownerOf(name)
		if of == nil {
			continue
		}
		addrs, err := v.c.Resolver.LookupNetIP(ctx, "ip", name)
		switch {
		case failed(err):
			return nil, failedLasts
		case slices.ContainsFunc(addrs, func(a netip.Addr) bool { return a.Unmap() == addr }):
			return of, ownedLasts
		}
	}
	return nil, strangeLasts
}

// failed says whether an error leaves a question open. That there is no such name is an answer.
func failed(err error) bool {
	var answer *net.DNSError
	return err != nil && !(errors.As(err, &answer) && answer.IsNotFound)
}

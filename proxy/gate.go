package proxy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/crawler"
	"github.com/fairdoor-gate/fairdoor/proxy/events"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// allowedMethods are the request methods that the gate sends on to origins.
var allowedMethods = []string{"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}

// Gate is the waiting room as an HTTP handler. It is made by New and ended by
// Close.
type Gate struct {
	o Options
	answers
	metrics   *metrics.Metrics
	current   atomic.Pointer[setup]
	draining  atomic.Bool
	events    *events.Hub
	features  []feature.Feature
	witnesses witnesses               // those that are told of requests
	escorts   []feature.Escort        // those that go with requests
	observers []feature.Observer      // those that are told what becomes of visitors
	toldBy    []string                // the headers by which origins tell the gate something
	own       map[string]feature.Path // the gate's own paths, by what follows feature.Paths
	uncounted *networks.Bounds        // of what passes uncounted, or is asked of DNS
	attempts  *networks.Bounds        // at codes and links
	untrusted feature.Once            // the warning of forwarding headers that are not believed
	crawlers  *crawler.Verifier

	mu       sync.Mutex                     // held while configuring
	making   sync.RWMutex                   // locked while configuring and closing, read-locked while a family makes a room or drops one
	pausing  sync.Mutex                     // held from reading whether an origin fails until its rooms are paused or not
	rooms    map[string]*keptRoom           // those of their own, by name; they outlive configurations
	families map[string]*family             // by name; they outlive configurations, too
	keys     map[string]*subject.Published  // by the addresses where the sites publish them; they outlive configurations, too
	record   atomic.Pointer[waitlist.Store] // of waitlists and passes; nil until the first is configured
	sync     context.Context                // of the rooms' syncing and the beat
	stop     context.CancelFunc             // ends it
	tasks    sync.WaitGroup                 // the syncing and the streams' beat
}

// New returns a gate of the configuration c. It fails if something in it cannot
// be used or the store does not answer.
func New(ctx context.Context, c Config, o Options) (*Gate, error) {
	if o.Store == nil {
		return nil, errors.New("a gate needs a store")
	}
	problems, err := templates.NewProblems()
	if err != nil {
		return nil, fmt.Errorf("making the error pages: %w", err)
	}
	languages, err := templates.NewLanguages(templates.DefaultLanguage)
	if err != nil {
		return nil, fmt.Errorf("making the error pages: %w", err)
	}
	g := &Gate{o: o.withDefaults(),
		uncounted: networks.New(), attempts: networks.New(),
		rooms: map[string]*keptRoom{}, families: map[string]*family{}, keys: map[string]*subject.Published{}}
	g.answers = answers{problems, languages, services{g}}
	g.crawlers = crawler.NewVerifier(crawler.Config{Resolver: g.o.Resolver, Clock: g.o.Clock, Enter: services{g}.Enter})
	g.events = events.NewHub(events.Config{Clock: g.o.Clock, Uint64: g.o.Uint64, Turn: g.o.Turn, Survive: services{g}.Survive, Detach: detach})
	g.metrics = metrics.New(metricsGate{g})
	if more := g.o.Metrics; more.Collect != nil {
		g.metrics.Collect(more.Collect, more.Numbers...)
	}
	g.o.Store = g.o.Traces.Store(g.metrics.Store(g.o.Store))
	services{g}.collectRecord()
	g.sync, g.stop = context.WithCancel(context.WithoutCancel(ctx))
	g.features = g.o.features(services{g}, &g.o)
	g.witnesses, g.escorts, g.observers = witnessesOf(g.features), slices.Collect(having[feature.Escort](g)), slices.Collect(having[feature.Observer](g))
	g.own, g.toldBy = ownPaths(g), slices.Clone(commandHeaders[:])
	for f := range having[feature.Listener](g) {
		g.toldBy = append(g.toldBy, f.Headers()...)
	}
	if err := g.Configure(ctx, c); err != nil {
		g.stop()
		g.tasks.Wait()
		g.crawlers.Close()
		g.closeFeatures()
		closeKeys(g.keys, &Config{})
		services{g}.closeRecord()
		return nil, err
	}
	g.start(func() { g.events.Run(g.sync) })
	for f := range having[feature.Runner](g) {
		g.start(func() { f.Run(g.sync) })
	}
	return g, nil
}

// ServeHTTP answers a visitor's request.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.metrics.Begin()
	defer g.metrics.End()
	s := g.current.Load()
	requestid.Give(w, r, s.trust.TrustsPeer)
	g.noticeForwarding(r, s)
	g.escort(w, r, s, g.escorts)
}

// escort answers a request while features go with it.
func (g *Gate) escort(w http.ResponseWriter, r *http.Request, s *setup, by []feature.Escort) {
	if len(by) > 0 {
		w, r, end := by[0].Begin(w, r)
		if end != nil {
			defer end.End()
		}
		g.escort(w, r, s, by[1:])
		return
	}
	switch {
	case g.refuses(w, r):
	case feature.IsOwn(r):
		g.answerOwn(w, r, s)
	default:
		g.door(w, r, s)
	}
}

// door answers a request that is for a room or for an origin.
func (g *Gate) door(w http.ResponseWriter, r *http.Request, s *setup) {
	s.stripSubjects(r)
	of, rs := g.roomFor(w, r, s)
	if of == nil {
		return
	}
	if g.passesBy(w, r, of, &of.Room, rs) {
		return
	}
	k := visits.Get().(*decided)
	defer k.free()
	v, d := &k.visit, &k.decision
	if err := v.Read(r, &of.Room, rs, g.o.Clock()); err != nil {
		g.problem(w, r, http.StatusRequestHeaderFieldsTooLarge, rs.Languages())
		return
	}
	switch {
	case refusedByCheck(w, r, v):
	case v.Endless != nil:
		g.witnesses.visit(r, v, &room.Decision{Outcome: room.Queued})
		g.endless(w, r, v)
	case v.Shut:
		g.witnesses.visit(r, v, &room.Decision{Outcome: room.Rejected})
		g.shutOut(w, r, v)
	case feature.Speculative(r) && !v.IsIn(r.Context()):
		g.witnesses.withheld(r, of)
		g.withhold(w, r, of, rs)
	case feature.Subresource(r) && v.Ticket.State != queue.Accepted:
		g.passUncounted(w, r, of, rs, v.WouldWait())
	case v.CookieMissing(r):
		g.witnesses.visit(r, v, &room.Decision{Outcome: room.Queued})
		g.answerWithoutCookie(w, r, v)
	default:
		*d = v.Decide(r)
		g.witnesses.visit(r, v, d)
		g.answer(w, r, v, d)
		forgetUnanswered(w, r, v, d)
	}
}

// refusedByCheck has the answer to a check refuse a visit before the queue is asked, and says
// whether it has.
func refusedByCheck(w http.ResponseWriter, r *http.Request, v *feature.Visit) bool {
	c, ok := w.(feature.Check)
	return ok && c.Refuses(r, v)
}

// decided is a visit and the decision about it, until the answer has ended. It is pooled.
type decided struct {
	visit    feature.Visit
	decision room.Decision
}

var visits = sync.Pool{New: func() any { return new(decided) }}

func (d *decided) free() {
	*d = decided{}
	visits.Put(d)
}

// shutOut answers somebody who may not join the room, as its features see to that.
func (g *Gate) shutOut(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	v.Count(new(room.Decision))
	v.Setup.Answers(w.Header(), r)
	feature.LeaveBody(w.Header(), r)
	for _, f := range v.Setup.Doorkeepers {
		if f.Before(w, r, v) {
			return
		}
	}
	g.problem(w, r, http.StatusForbidden, v.Setup.Languages())
}

// refuses answers requests that are for nobody, and says whether this was one.
func (g *Gate) refuses(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.Method == http.MethodConnect || r.Method == http.MethodTrace:
		g.witnesses.aside(r)
		w.Header()["Allow"] = allowedMethods
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
		return true
	case r.URL.Scheme != "" && r.URL.Scheme != "http" && r.URL.Scheme != "https", !namesHost(r):
		g.witnesses.aside(r)
		g.problem(w, r, http.StatusBadRequest, g.languages)
		return true
	}
	return false
}

// namesHost says whether a request names its host in a way that every server reads
// alike. A request of HTTP/1.0 may also name none.
func namesHost(r *http.Request) bool {
	if r.Host == "" {
		return !r.ProtoAtLeast(1, 1)
	}
	_, ok := route.ParseHost(r.Host)
	return ok
}

// Serves says whether a request for a host is one for a room or for the top-level origin.
func (g *Gate) Serves(host string) bool {
	s := g.current.Load()
	_, ok := route.ParseHost(host)
	return ok && (s.fallback != nil || s.table.Knows(host))
}

// unguarded answers a request that no room guards.
func (g *Gate) unguarded(w http.ResponseWriter, r *http.Request, s *setup) {
	switch {
	case s.fallback != nil:
		g.pass(w, r, s.fallback, s.assertions, false)
	case s.table.Knows(r.Host):
		g.witnesses.aside(r)
		g.problem(w, r, http.StatusNotFound, g.languages)
	default:
		g.witnesses.aside(r)
		g.problem(w, r, http.StatusMisdirectedRequest, g.languages)
	}
}

// Drain makes the gate report that it is not ready any more, so that no new
// visitors are sent to it. It goes on answering those who come; event streams
// end, and their visitors open others elsewhere.
func (g *Gate) Drain() {
	if g.draining.Swap(true) {
		return
	}
	g.events.Drain()
	for _, f := range g.features {
		if f, ok := f.(feature.Drainer); ok {
			f.Drain()
		}
	}
}

// Close ends the gate's own work and waits for it. Call it after the servers
// have been shut down. The store stays open.
func (g *Gate) Close() {
	g.making.Lock()
	g.stop() // no family makes a room from now on
	g.making.Unlock()
	g.tasks.Wait()
	g.crawlers.Close()
	g.closeFeatures()
	closeKeys(g.keys, &Config{})
	services{g}.closeRecord()
	for _, o := range g.current.Load().origins {
		o.Close()
	}
}

// closeFeatures ends what features have to end.
func (g *Gate) closeFeatures() {
	for f := range having[feature.Closer](g) {
		f.Close()
	}
}

// having yields the features of a gate that have a stage, in their order.
func having[S any](g *Gate) iter.Seq[S] {
	return func(yield func(S) bool) {
		for _, f := range g.features {
			if s, ok := f.(S); ok && !yield(s) {
				return
			}
		}
	}
}

// has is the first feature of a gate that has a stage.
func has[S any](g *Gate) (first S, found bool) {
	for s := range having[S](g) {
		return s, true
	}
	return first, false
}

// keepInSync syncs a room with the store until the gate or stop is closed, and once
// more then. It ends sooner if the room's family drops it.
func (g *Gate) keepInSync(r *keptRoom, stop <-chan struct{}) {
	timer := time.NewTimer(g.o.SyncInterval)
	defer timer.Stop()
	for {
		var last bool
		select {
		case <-g.sync.Done():
			last = true
		case <-stop:
			last = true
		case <-timer.C:
		case <-r.SyncWanted():
		}
		if g.syncRoom(r) || last {
			return
		}
		timer.Reset(r.Queue.SyncIn(g.o.Clock(), g.o.SyncInterval))
	}
}

// syncRoom syncs a room, and says whether its family has dropped it then.
func (g *Gate) syncRoom(r *keptRoom) bool {
	defer services{g}.Survive("sync")
	r.Overrides.HoldForPrequeue(g.o.Clock())
	if err := r.Queue.Sync(context.WithoutCancel(g.sync), g.o.Clock()); err != nil {
		g.o.Log.Debug("sync failed", zap.String("room", r.Queue.Name()), zap.Error(err))
		g.follow(r)
		return false
	}
	if err := r.Overrides.Follow(context.WithoutCancel(g.sync), g.o.Clock()); err != nil {
		g.o.Log.Debug("following the events failed", zap.String("room", r.Queue.Name()), zap.Error(err))
	}
	g.follow(r)
	return r.drop()
}

// follow has features look at a room that was synced.
func (g *Gate) follow(r *keptRoom) {
	for f := range having[feature.Follower](g) {
		f.Follow(&r.Room)
	}
}

// below is a directory in the state directory; "" without one.
func below(stateDir, name string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, name)
}

// start starts a goroutine of the gate's own, for which Close waits.
func (g *Gate) start(task func()) {
	take := g.o.Turn()
	g.tasks.Go(func() {
		take()
		task()
	})
}

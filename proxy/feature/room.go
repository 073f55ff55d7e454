package feature

import (
	"cmp"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Room is a waiting room. It lasts: configurations come and go, and its queue stays, with everyone
// who waits or is in.
type Room struct {
	Queue     *room.Room
	Overrides *overrides.Room // the queue's settings: the file's, with what operators changed
	Seats     Seats
	metrics.Counters

	refusedNote atomic.Bool // the log says that a note was refused

	Removed atomic.Bool // it is not configured any more, or its family has dropped it

	setup   atomic.Pointer[Setup]
	syncNow chan struct{} // has a value while a sync is wanted at once
	urged   atomic.Int64  // when that was last, in nanoseconds since 1970
	states  sync.Map      // what features keep of the room, by its type

	observers []Observer
}

// StateOf returns what a feature keeps of a room for as long as the room lasts, by its type; at
// first the zero value.
func StateOf[S any](r *Room) *S {
	key := reflect.TypeFor[S]()
	if kept, ok := r.states.Load(key); ok {
		return kept.(*S)
	}
	kept, _ := r.states.LoadOrStore(key, new(S))
	return kept.(*S)
}

// Init makes a room ready, which has no setup and no queue.
func (r *Room) Init(counters metrics.Counters, observers []Observer) {
	r.Counters, r.observers, r.syncNow = counters, observers, make(chan struct{}, 1)
}

// Setup is the latest configuration of the room. It is never nil while requests can find the room.
func (r *Room) Setup() *Setup { return r.setup.Load() }

// Use has requests go by a setup from now on.
func (r *Room) Use(s *Setup) { r.setup.Store(s) }

// Settings are those in force.
func (r *Room) Settings() queue.Settings { return r.Queue.Settings() }

// Decided counts what is decided about a visitor.
func (r *Room) Decided(s Sight) {
	r.CountDecision(s.What, s.Decision)
	for _, o := range r.observers {
		o.Decided(r, s)
	}
}

// Ahead is where the visitor of a ticket is put ahead now: by operators, or else by their pass.
func (r *Room) Ahead(now time.Time, t *queue.Ticket, byPass queue.Ahead) queue.Ahead {
	if t.State != queue.Waiting || len(r.Overrides.Ahead()) == 0 {
		return byPass
	}
	if code := r.Setup().Pages.Support.CodeOf(t.ID); r.Overrides.IsAhead(now, string(code[:])) {
		return queue.AheadOfAll
	}
	return byPass
}

// Leave takes a visitor's goodbye: they are not counted any more.
func (r *Room) Leave(now time.Time, t queue.Ticket) {
	r.Queue.Leave(now, t)
	r.Count(metrics.Left)
	r.gone(now, t.ID, Left)
}

// Revoke ends the session of a visitor, as the site wants it.
func (r *Room) Revoke(now time.Time, t queue.Ticket) {
	r.Queue.Revoke(now, t)
	r.Seats.Cut(t.ID)
	r.Count(metrics.Revoked)
	r.gone(now, t.ID, Revoked)
}

// PutOut ends the connections of a visitor whom operators have taken out.
func (r *Room) PutOut(now time.Time, id queue.ID) {
	r.Seats.Cut(id)
	r.gone(now, id, Removed)
}

func (r *Room) gone(now time.Time, id queue.ID, why Going) {
	for _, o := range r.observers {
		o.Gone(r, now, id, why)
	}
}

// SyncSoon has the room synced at once, rather than when the next sync is due; once a second at
// most.
func (r *Room) SyncSoon(now time.Time) {
	if last := r.urged.Load(); now.UnixNano() < last+int64(time.Second) || !r.urged.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	r.SyncNow()
}

// SyncNow has the room synced at once.
func (r *Room) SyncNow() {
	select {
	case r.syncNow <- struct{}{}:
	default:
	}
}

// SyncWanted has a value while the room is to be synced at once.
func (r *Room) SyncWanted() <-chan struct{} { return r.syncNow }

// Setup is one configuration of a room at work, or one of a family: the setups of the family's
// rooms are made from it. It does not change, apart from the pages that it keeps.
type Setup struct {
	Config     config.Room
	Family     string // the name of the family that this is a room of; "" for others
	Trust      origin.Trust
	Keys       []cookie.Key // of tickets, and of what else the gate seals
	Signer     *assertion.Signer
	Assertions *assertion.Room // of the requests to the site; nil for none
	Origin     Site
	Rules      *route.Rules
	Jar        *cookie.Jar
	Binder     bind.Binder
	Subjects   *subject.Reader
	Identity   templates.Identity
	Pages      *pages.Room
	Log        *zap.Logger
	Proof      Proof // what strangers bring before they get a place; nil for nothing
	Restricted bool  // the room is not open to everybody, so that shared caches may keep no answer of the site
	Stages

	named []string // the room's name, as the header Fairdoor-Room has it
}

// Site is where those go who are in: origins, or a handler in this process.
type Site interface {
	// The methods are those of origin.Balancer.
	http.Handler
	ServeVisitor(w http.ResponseWriter, r *http.Request, visitor [16]byte)
	Origins() []*origin.Origin
	Has(o *origin.Origin) bool
	Failing() bool
	Wanted(host string)
}

// Named makes name that of the room.
func (s *Setup) Named(name string) { s.Config.Name, s.named = name, []string{name} }

// About is what a line of the log says of a visitor's request: its id, and the support code that the
// visitor's page shows. It is worked out only for a line that is written.
func (s *Setup) About(r *http.Request, id queue.ID) zap.Field {
	return zap.Inline(about{&s.Pages.Support, id, r})
}

type about struct {
	key     *pages.SupportKey
	visitor queue.ID
	request *http.Request
}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (a about) MarshalLogObject(to zapcore.ObjectEncoder) error {
	requestid.Field(a.request).AddTo(to)
	if a.visitor != (queue.ID{}) {
		code := a.key.CodeOf(a.visitor)
		to.AddString("supportCode", string(code[:]))
	}
	return nil
}

// Languages are those of the room's built-in pages.
func (s *Setup) Languages() *templates.Languages { return s.Pages.Set.Languages }

// PathOn returns the path of the room on a host.
func (s *Setup) PathOn(host string) string {
	for _, to := range s.Config.Routes {
		if named, ok := route.ParseHost(host); ok && to.Host == named {
			return to.Path
		}
	}
	return s.Config.Routes[0].Path
}

// IsOn says whether the room guards a path on a host.
func (s *Setup) IsOn(host string) bool {
	named, _ := route.ParseHost(host)
	return slices.ContainsFunc(s.Config.Routes, func(to route.Route) bool { return to.Host == "" || to.Host == named })
}

// Action returns the action of the rule that a request fits; "" for none.
func (s *Setup) Action(r *http.Request) string {
	if s.Rules.IsEmpty() {
		return ""
	}
	i, ok := s.Rules.Match(route.Request{
		Target: r.RequestURI, Method: r.Method, Host: r.Host, Addr: s.Trust.ClientAddr(r), Header: r.Header,
	})
	if !ok {
		return ""
	}
	return s.Rules.Action(i)
}

// AdmitsNobody says whether no new visitor may enter the room while it has the settings.
func (s *Setup) AdmitsNobody(settings queue.Settings) bool {
	return settings.AdmitsNobody() || s.Origin.Failing()
}

// Language returns the language of the page that answers a request, or "" if JSON
// answers it. The gate's own scripts get JSON whatever json_response_enabled says.
func (s *Setup) Language(r *http.Request) string {
	if (s.Config.JSON || r.Header["Fairdoor-Visibility"] != nil) && WantsJSON(r) {
		return ""
	}
	return s.Languages().Match(HeaderValue(r.Header["Accept-Language"]))
}

// HTTPS says whether the sender of a request came by https.
func (s *Setup) HTTPS(r *http.Request) bool { return s.Trust.Scheme(r) == "https" }

// OwnAddress is the address of one of the gate's own paths, which is about the room.
func (s *Setup) OwnAddress(path string) string {
	return Paths + path + "?room=" + url.QueryEscape(s.Config.Name)
}

// CookieSuffix is what the names of the room's cookies end with.
func (s *Setup) CookieSuffix() string { return cmp.Or(s.Config.CookieSuffix, s.Config.Name) }

// ValueIn puts the value of a family's room in the place of the braces in its routes.
func (s *Setup) ValueIn(value string) {
	s.Config.Routes = slices.Clone(s.Config.Routes)
	for i := range s.Config.Routes {
		to := &s.Config.Routes[i]
		to.Path = strings.Replace(to.Path, "{"+to.Value()+"}", value, 1)
	}
}

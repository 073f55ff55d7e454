package proxy

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy/origin"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/proxy/subject"
	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
	"github.com/anteroom-gate/anteroom/templates"
)

// line is what outlives the configurations of a room.
type line struct {
	queue *queueroom.Room
	mu    sync.Mutex                 // held while configuring
	base  atomic.Pointer[RoomConfig] // as this gate is configured, whatever operators changed since
	room  atomic.Pointer[room]       // its latest configuration; nil while there is no such room
	gone  chan struct{}              // closed to end the syncing; nil without. Written with the gate's making held
	seats seats
}

// room is one configuration of a room at work. It does not change.
type room struct {
	cfg    RoomConfig
	line   *line   // nil for the model of a family
	family *family // that it is one of, or the model of; nil for a room of its own
	value  string  // of the braces in the family's path; "" for its model
	keys   []cookie.Key
	origin *origin.Origin
	rules  *route.Rules
	jar    *cookie.Jar
	names  *subject.Reader
	set    *templates.Set
	pages  pages
	log    *zap.Logger
	roomMetrics
}

func (g *Gate) newRoom(cfg *RoomConfig, c Config) (*room, error) {
	r := &room{cfg: *cfg, keys: c.Keys, log: g.o.Log, roomMetrics: g.metrics.room(cfg.Name)}
	if r.cfg.StatusCode == 0 {
		r.cfg.StatusCode = http.StatusOK
	}
	r.cfg.MaxRooms = cmp.Or(r.cfg.MaxRooms, defaultMaxRooms)
	r.cfg.RoomIdle = cmp.Or(r.cfg.RoomIdle, defaultRoomIdle)
	err := cfg.Settings.WithDefaults().Validate()
	if err != nil {
		return nil, err
	}
	if err := r.takeName(); err != nil {
		return nil, err
	}
	if r.rules, err = route.NewRules(cfg.Rules); err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	if r.set, err = templates.NewSet(templates.Options{Custom: cfg.Page, DefaultLanguage: cfg.Language}); err != nil {
		return nil, fmt.Errorf("making the page: %w", err)
	}
	return r, nil
}

// takeName makes what goes by the room's name: what reads and writes its tickets,
// and reads who the site says its visitors are.
func (r *room) takeName() error {
	r.log = r.log.With(zap.String("room", r.cfg.Name))
	codec, err := cookie.New(cookie.Config{Name: cookie.Name(cmp.Or(r.cfg.CookieSuffix, r.cfg.Name)), Keys: r.keys})
	if err != nil {
		return fmt.Errorf("making the ticket's codec: %w", err)
	}
	if r.jar, err = cookie.NewJar(codec, r.cfg.CookieAttributes); err != nil {
		return fmt.Errorf("reading the cookie's attributes: %w", err)
	}
	named := r.cfg.Subject
	named.Room = r.cfg.Name
	if r.names, err = subject.New(named); err != nil {
		return fmt.Errorf("reading how the site names its users: %w", err)
	}
	return nil
}

// open gives the room its line: the one it had, or a new one.
func (g *Gate) open(ctx context.Context, r *room) error {
	if r.line != nil {
		return nil
	}
	if l, ok := g.lines[r.cfg.Name]; ok {
		r.line = l
		return nil
	}
	l, err := g.newLine(ctx, r)
	if err != nil {
		return err
	}
	r.line = l
	g.lines[r.cfg.Name] = l
	return nil
}

// newLine returns a line for the room.
func (g *Gate) newLine(ctx context.Context, r *room) (*line, error) {
	l := &line{}
	log := g.o.Log.With(zap.String("room", r.cfg.Name))
	q, err := queueroom.New(ctx, g.o.Clock(), queueroom.Config{
		Name: r.cfg.Name, Settings: r.cfg.Settings, Store: g.o.Store, Gather: g.o.Gather, Slack: g.o.Slack, Clock: g.o.Clock,
		OnStoreChange: func(err error) {
			if err != nil {
				log.Error("store does not answer", zap.Error(err))
			} else {
				log.Info("store answers again")
			}
		},
		OnConfigure: func(c queue.Configuration) { l.heard(c, log) },
		OnLeave:     func(id queue.ID) { g.streams.stay(l, id) },
	})
	if err != nil {
		return nil, err
	}
	l.queue = q
	return l, nil
}

// settings are those in force; for the model of a family those of its rooms at
// first.
func (r *room) settings() queue.Settings {
	if r.line == nil {
		return r.cfg.Settings.WithDefaults()
	}
	return r.line.queue.Settings()
}

// suspended says whether the room is not used for now.
func (r *room) suspended() bool {
	if r.line == nil {
		return r.cfg.Settings.Suspended
	}
	return r.line.queue.Suspended()
}

// exempts says whether a request passes the room by.
func (r *room) exempts(q *http.Request, trust origin.Trust) bool {
	if r.suspended() {
		return true
	}
	if len(r.cfg.Rules) == 0 {
		return false
	}
	_, ok := r.rules.Match(route.Request{
		Target: q.RequestURI, Method: q.Method, Addr: trust.ClientAddr(q), Header: q.Header,
	})
	return ok
}

// ticket returns what the request's cookies tell of its visitor. One that
// cannot be trusted is none.
func (r *room) ticket(q *http.Request) (queue.Ticket, cookie.Ticket, error) {
	sealed, err := r.jar.Read(q.Header)
	return unsealed(sealed), sealed, err
}

// unsealed is the ticket that was in a cookie; the zero Ticket if there is none.
func unsealed(sealed cookie.Ticket) queue.Ticket {
	var t queue.Ticket
	if sealed.Payload == nil || t.UnmarshalBinary(sealed.Payload) != nil {
		return queue.Ticket{}
	}
	return t
}

// seal returns the Set-Cookie value that carries the ticket.
func (r *room) seal(t queue.Ticket, https bool) (string, error) {
	var buf [64]byte
	payload, err := t.AppendBinary(buf[:0])
	if err != nil {
		return "", fmt.Errorf("writing a ticket: %w", err)
	}
	return r.jar.Seal(payload, https)
}

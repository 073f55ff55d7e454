package proxy

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy/guests"
	"github.com/anteroom-gate/anteroom/proxy/origin"
	"github.com/anteroom-gate/anteroom/proxy/overrides"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/proxy/subject"
	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/templates"
)

// roomSetup is one configuration of a room at work, or one of a family: the setups of
// the family's rooms are made from it. It does not change, apart from the pages that it
// keeps.
type roomSetup struct {
	cfg        RoomConfig
	named      []string // the room's name, as the header Anteroom-Room has it
	family     string   // the name of the family that this is a room of; "" for others
	keys       []cookie.Key
	origin     *origin.Origin
	exemptions *route.Rules
	jar        *cookie.Jar
	subjects   *subject.Reader
	set        *templates.Set
	identity   templates.Identity
	guests     *guests.Waitlist // that belongs to the room; nil for none
	overrides  *overrides.Room  // of the room; nil for a family
	eventPage  atomic.Pointer[eventPage]
	pages      pages
	log        *zap.Logger
	warned     atomic.Bool // of a number that makes no sense
}

func (g *Gate) newRoomSetup(cfg RoomConfig, keys []cookie.Key) (*roomSetup, error) {
	rs := &roomSetup{cfg: cfg, keys: keys}
	rs.cfg.StatusCode = cmp.Or(cfg.StatusCode, http.StatusOK)
	rs.cfg.MaxRooms = cmp.Or(cfg.MaxRooms, defaultMaxRooms)
	rs.cfg.RoomIdle = cmp.Or(cfg.RoomIdle, defaultRoomIdle)
	if cfg.IsFamily() {
		rs.cfg.Settings.Fleeting = true
	}
	err := cfg.Settings.WithDefaults().Validate()
	if err != nil {
		return nil, err
	}
	if err := rs.nameAfter(cfg.Name, g.o.Log); err != nil {
		return nil, err
	}
	if rs.exemptions, err = route.NewRules(cfg.Presets, cfg.Rules, g.crawlers.Verified); err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	rs.identity = cfg.Identity
	if cfg.Logo != nil {
		rs.identity.Logo = logoPath + cfg.Logo.Name
	}
	if rs.set, err = templates.NewSet(templates.Options{Custom: cfg.Page, DefaultLanguage: cfg.Language, Identity: rs.identity}); err != nil {
		return nil, fmt.Errorf("making the page: %w", err)
	}
	return rs, nil
}

// nameAfter names the room, and makes the parts that its name is in: the jar of its
// tickets, the reader of the site's own names for its visitors, and the log.
func (rs *roomSetup) nameAfter(name string, log *zap.Logger) error {
	rs.cfg.Name, rs.named, rs.log = name, []string{name}, log.With(zap.String("room", name))
	codec, err := cookie.New(cookie.Config{Name: cookie.Name(cmp.Or(rs.cfg.CookieSuffix, name)), Keys: rs.keys})
	if err != nil {
		return fmt.Errorf("making the ticket's codec: %w", err)
	}
	if rs.jar, err = cookie.NewJar(codec, rs.cfg.CookieAttributes); err != nil {
		return fmt.Errorf("reading the cookie's attributes: %w", err)
	}
	subjects := rs.cfg.Subject
	subjects.Room = name
	if rs.subjects, err = subject.New(subjects); err != nil {
		return fmt.Errorf("reading how the site names its users: %w", err)
	}
	return nil
}

// forValue returns the setup of the family's room for a value.
func (rs *roomSetup) forValue(value string, log *zap.Logger) (*roomSetup, error) {
	of := &roomSetup{cfg: rs.cfg, family: rs.cfg.Name, keys: rs.keys, origin: rs.origin, exemptions: rs.exemptions, set: rs.set}
	if rs.cfg.CookieSuffix != "" {
		of.cfg.CookieSuffix += "." + value
	}
	of.cfg.Routes = slices.Clone(rs.cfg.Routes)
	for i := range of.cfg.Routes {
		to := &of.cfg.Routes[i]
		to.Path = strings.Replace(to.Path, "{"+to.Value()+"}", value, 1)
	}
	return of, of.nameAfter(rs.cfg.Name+"."+value, log)
}

// file is what the gate's file says of the room's settings and events.
func (rs *roomSetup) file() overrides.File {
	return overrides.File{Settings: rs.cfg.Settings, Events: rs.cfg.Events}
}

// pathOn returns the path of the room on a host.
func (rs *roomSetup) pathOn(host string) string {
	for _, to := range rs.cfg.Routes {
		if named, ok := route.ParseHost(host); ok && to.Host == named {
			return to.Path
		}
	}
	return rs.cfg.Routes[0].Path
}

// isOn says whether the room guards a path on a host.
func (rs *roomSetup) isOn(host string) bool {
	named, _ := route.ParseHost(host)
	return slices.ContainsFunc(rs.cfg.Routes, func(to route.Route) bool { return to.Host == "" || to.Host == named })
}

// exempts says whether one of the rules lets a request pass the room by.
func (rs *roomSetup) exempts(q *http.Request, trust origin.Trust) bool {
	if rs.exemptions.IsEmpty() {
		return false
	}
	_, ok := rs.exemptions.Match(route.Request{
		Target: q.RequestURI, Method: q.Method, Addr: trust.ClientAddr(q), Header: q.Header,
	})
	return ok
}

// admitsNobody says whether no new visitor may enter the room while it has the settings.
func (rs *roomSetup) admitsNobody(s queue.Settings) bool {
	return s.AdmitsNobody() || rs.origin.Failing()
}

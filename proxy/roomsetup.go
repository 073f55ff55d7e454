package proxy

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/proxy/webpush"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/passpage"
)

// roomSetup is one configuration of a room at work, or one of a family: the setups of
// the family's rooms are made from it. It does not change, apart from the pages that it
// keeps.
type roomSetup struct {
	cfg        RoomConfig
	named      []string // the room's name, as the header Fairdoor-Room has it
	family     string   // the name of the family that this is a room of; "" for others
	keys       []cookie.Key
	signer     *assertion.Signer
	signs      bool            // the requests to the origin
	assertions *assertion.Room // of those requests; nil for none
	admission  string          // the cookie of admission tokens, without "__Host-"
	origin     site
	rules      *route.Rules
	jar        *cookie.Jar
	binder     binder
	subjects   *subject.Reader
	set        *templates.Set
	identity   templates.Identity
	challenge  *challenge.Challenge
	guests     *guests.Waitlist // that belongs to the room; nil for none
	passes     *passes.Room     // nil if the room takes none
	links      *cookie.Codec    // of links by which places move to other devices
	linkPages  *passpage.Pages
	calls      *cookie.Codec   // of the tickets of visitors who are to be called; nil if the room calls nobody
	callKeys   []webpush.Key   // by which push services know the gate; nil if the room calls nobody
	overrides  *overrides.Room // of the room; nil for a family
	eventPage  atomic.Pointer[eventPage]
	pages      pages
	log        *zap.Logger
	warned     atomic.Bool // of a number that makes no sense
}

func (g *Gate) newRoomSetup(cfg RoomConfig, s *setup) (*roomSetup, error) {
	rs := &roomSetup{cfg: cfg, keys: s.cfg.Keys, signer: s.signer, signs: s.cfg.SignRequests}
	rs.cfg.StatusCode = cmp.Or(cfg.StatusCode, http.StatusOK)
	rs.cfg.MaxRooms = cmp.Or(cfg.MaxRooms, defaultMaxRooms)
	rs.cfg.RoomIdle = cmp.Or(cfg.RoomIdle, defaultRoomIdle)
	if cfg.IsFamily() {
		rs.cfg.Settings.Fleeting = true
	}
	file := rs.file()
	err := file.Check(cfg.Settings.WithDefaults())
	if err != nil {
		return nil, err
	}
	if rs.cfg.Subject.Published, err = g.keysAt(cfg.Subject.JWKSURL); err != nil {
		return nil, err
	}
	if rs.rules, err = route.NewRules(cfg.Presets, cfg.Rules, g.crawlers.Verified); err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	if cfg.CallBack {
		if rs.callKeys, err = webpush.KeysOf(rs.keys); err != nil {
			return nil, err
		}
		if rs.calls, err = cookie.New(cookie.Config{Name: cookie.Name(".call." + cfg.Name), Keys: rs.keys}); err != nil {
			return nil, fmt.Errorf("making the codec of calls: %w", err)
		}
	}
	rs.identity = cfg.Identity
	if cfg.Logo != nil {
		rs.identity.Logo = logoPath + cfg.Logo.Name
	}
	if err := rs.nameAfter(cfg.Name, g.o.Log); err != nil {
		return nil, err
	}
	if rs.set, err = rs.pagesOf(cfg.Page); err != nil {
		return nil, fmt.Errorf("making the page: %w", err)
	}
	if rs.linkPages, err = passpage.New(rs.cfg.Language, rs.identity); err != nil {
		return nil, fmt.Errorf("making the pages of links: %w", err)
	}
	if cfg.Challenge.IsOn() {
		if rs.challenge, err = challenge.New(cfg.Challenge, rs.identity); err != nil {
			return nil, fmt.Errorf("making the challenge: %w", err)
		}
	}
	return rs, nil
}

// pagesOf returns the templates of the room, with a page of its own or nil.
func (rs *roomSetup) pagesOf(custom *templates.Page) (*templates.Set, error) {
	o := templates.Options{Custom: custom, DefaultLanguage: rs.cfg.Language, Identity: rs.identity}
	if len(rs.callKeys) > 0 {
		o.CallBack = rs.callKeys[0].Public()
	}
	return templates.NewSet(o)
}

// nameAfter names the room, and makes the parts that its name is in: the jar of its
// tickets, the reader of the site's own names for its visitors, and the log.
func (rs *roomSetup) nameAfter(name string, log *zap.Logger) error {
	rs.cfg.Name, rs.named, rs.log = name, []string{name}, log.With(zap.String("room", name))
	suffix := cmp.Or(rs.cfg.CookieSuffix, name)
	rs.admission = cookie.Name("admission_" + suffix)
	if rs.signs {
		rs.assertions = rs.signer.Room(name)
	}
	codec, err := cookie.New(cookie.Config{Name: cookie.Name(suffix), Keys: rs.keys})
	if err != nil {
		return fmt.Errorf("making the ticket's codec: %w", err)
	}
	if rs.jar, err = cookie.NewJar(codec, rs.cfg.CookieAttributes); err != nil {
		return fmt.Errorf("reading the cookie's attributes: %w", err)
	}
	if rs.binder, err = newBinder(rs.cfg.BindTicket, name, rs.keys); err != nil {
		return fmt.Errorf("binding tickets: %w", err)
	}
	if rs.links, err = cookie.New(cookie.Config{Name: cookie.Name(".move." + name), Keys: rs.keys}); err != nil {
		return fmt.Errorf("making the codec of links: %w", err)
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
	of := &roomSetup{
		cfg: rs.cfg, family: rs.cfg.Name, keys: rs.keys, signer: rs.signer, signs: rs.signs, origin: rs.origin,
		rules: rs.rules, set: rs.set, linkPages: rs.linkPages, identity: rs.identity, challenge: rs.challenge,
	}
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
	return overrides.File{Settings: rs.cfg.Settings, Events: rs.cfg.Events, Misfits: rs.cfg.BindTicket.Misfits}
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

// action returns the action of the rule that a request fits; "" for none.
func (rs *roomSetup) action(q *http.Request, trust origin.Trust) string {
	if rs.rules.IsEmpty() {
		return ""
	}
	i, ok := rs.rules.Match(route.Request{
		Target: q.RequestURI, Method: q.Method, Addr: trust.ClientAddr(q), Header: q.Header,
	})
	if !ok {
		return ""
	}
	return rs.rules.Action(i)
}

// admitsNobody says whether no new visitor may enter the room while it has the settings.
func (rs *roomSetup) admitsNobody(s queue.Settings) bool {
	return s.AdmitsNobody() || rs.origin.Failing()
}

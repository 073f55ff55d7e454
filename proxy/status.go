package proxy

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/queue"
)

// roomJSON is a room's effective configuration, under the keys of the file.
type roomJSON struct {
	Name                  string      `json:"name"`
	Family                string      `json:"family,omitempty"` // that it is a room of
	Host                  string      `json:"host"`
	Path                  string      `json:"path"`
	AdditionalRoutes      []routeJSON `json:"additional_routes"`
	Origin                string      `json:"origin"`
	QueueingStatusCode    int         `json:"queueing_status_code"`
	JSONResponseEnabled   bool        `json:"json_response_enabled"`
	CustomPage            bool        `json:"custom_page"`
	Language              string      `json:"default_template_language"`
	CookieName            string      `json:"cookie_name"` // over http; over https it may have a prefix
	CookieSuffix          string      `json:"cookie_suffix"`
	CookieAttributes      cookieJSON  `json:"cookie_attributes"`
	EnabledOriginCommands []string    `json:"enabled_origin_commands"`
	Rules                 []ruleJSON  `json:"rules"`
	Subject               subjectJSON `json:"subject"`
	MaxRooms              int         `json:"max_rooms,omitempty"` // of a family, as room_idle
	RoomIdle              string      `json:"room_idle,omitempty"`

	// Overrides are the changes made while the gate ran, which are in the settings.
	Overrides    changes           `json:"overrides"`
	OverriddenBy map[string]author `json:"overridden_by"`
	Version      int64             `json:"version"` // grows with every change, on whichever gate

	settings queue.Settings
}

// MarshalJSON writes the room's settings beside the rest.
func (j roomJSON) MarshalJSON() ([]byte, error) {
	type rest roomJSON
	text, err := json.Marshal(rest(j))
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(j.settings)
	if err != nil {
		return nil, err
	}
	return append(append(text[:len(text)-1], ','), settings[1:]...), nil
}

type routeJSON struct {
	Host string `json:"host"`
	Path string `json:"path"`
}

type cookieJSON struct {
	SameSite cookie.SameSite `json:"samesite"`
	Secure   cookie.Secure   `json:"secure"`
	Domain   string          `json:"domain"`
}

// subjectJSON is how the site names its users, without the keys.
type subjectJSON struct {
	Header string `json:"header"`
	Token  struct {
		Header   string `json:"header"`
		Cookie   string `json:"cookie"`
		Issuer   string `json:"issuer"`
		Audience string `json:"audience"`
	} `json:"token"`
}

type ruleJSON struct {
	Action      string         `json:"action"`
	Description string         `json:"description"`
	Match       conditionsJSON `json:"match"`
}

type conditionsJSON struct {
	Path       string   `json:"path,omitempty"`
	PathPrefix string   `json:"path_prefix,omitempty"`
	PathSuffix string   `json:"path_suffix,omitempty"`
	Method     string   `json:"method,omitempty"`
	CIDR       []string `json:"cidr,omitempty"`
	Header     string   `json:"header,omitempty"`
	Cookie     string   `json:"cookie,omitempty"`
}

// describeRule tells a rule without the values of headers and cookies, which are
// as good as passwords.
func describeRule(r route.Rule) ruleJSON {
	m := conditionsJSON(r.Match)
	if name, _, found := strings.Cut(m.Header, ":"); found {
		m.Header = name + ": …"
	}
	if name, _, found := strings.Cut(m.Cookie, "="); found {
		m.Cookie = name + "=…"
	}
	return ruleJSON{Action: r.Action, Description: r.Description, Match: m}
}

// describe returns the room's configuration in force.
func (r *room) describe() roomJSON {
	rs := r.setup.Load()
	j := rs.describe(r.queue.Configuration())
	j.Family = rs.family
	return j
}

// describe returns the configuration that the family's rooms start with.
func (f *family) describe() roomJSON {
	rs := f.setup.Load()
	j := rs.describe(queue.Configuration{Settings: rs.cfg.Settings.WithDefaults()})
	j.MaxRooms, j.RoomIdle = rs.cfg.MaxRooms, queue.FormatDuration(rs.cfg.RoomIdle)
	return j
}

// describe returns the setup with the configuration c of its queue.
func (rs *roomSetup) describe(c queue.Configuration) roomJSON {
	s, o := c.Settings, overridesOf(c)
	j := roomJSON{
		Name: rs.cfg.Name, AdditionalRoutes: []routeJSON{}, Origin: rs.cfg.Origin.String(),
		settings:           s,
		QueueingStatusCode: rs.cfg.StatusCode, JSONResponseEnabled: rs.cfg.JSON,
		CustomPage: rs.cfg.Page != nil, Language: rs.set.Default(), CookieName: rs.jar.Name(false),
		CookieSuffix: rs.cfg.CookieSuffix, Rules: []ruleJSON{},
		CookieAttributes: cookieJSON{
			SameSite: cmp.Or(rs.cfg.CookieAttributes.SameSite, cookie.SameSiteAuto),
			Secure:   cmp.Or(rs.cfg.CookieAttributes.Secure, cookie.SecureAuto),
			Domain:   rs.cfg.CookieAttributes.Domain,
		},
		EnabledOriginCommands: []string{},
		Overrides:             o.Changes, OverriddenBy: o.By, Version: c.Version,
	}
	j.settings.Fleeting = false // of the store alone
	if j.Overrides == nil {
		j.Overrides, j.OverriddenBy = changes{}, map[string]author{}
	}
	named, token := rs.cfg.Subject, &j.Subject.Token
	j.Subject.Header = named.Header
	token.Header, token.Cookie, token.Issuer, token.Audience = named.TokenHeader, named.TokenCookie, named.Issuer, named.Audience
	if rs.cfg.Revoke {
		j.EnabledOriginCommands = append(j.EnabledOriginCommands, "revoke")
	}
	for i, route := range rs.cfg.Routes {
		if i == 0 {
			j.Host, j.Path = route.Host, route.Path
		} else {
			j.AdditionalRoutes = append(j.AdditionalRoutes, routeJSON(route))
		}
	}
	for _, rule := range rs.cfg.Rules {
		j.Rules = append(j.Rules, describeRule(rule))
	}
	return j
}

// statusJSON is how a room stands.
type statusJSON struct {
	Status                    string       `json:"status"`
	EventID                   string       `json:"event_id"`
	EstimatedQueuedUsers      int          `json:"estimated_queued_users"`
	EstimatedTotalActiveUsers int          `json:"estimated_total_active_users"`
	MaxEstimatedTimeMinutes   int          `json:"max_estimated_time_minutes"`
	ActiveUsers               int          `json:"activeUsers"`
	OpenSlots                 int          `json:"openSlots"`
	Buckets                   []bucketJSON `json:"buckets"`
}

type bucketJSON struct {
	Key  string `json:"key"` // the bucket's time as HTTP writes dates
	Data struct {
		Waiting       int `json:"waiting"`
		ReservedSlots int `json:"reservedSlots"`
	} `json:"data"`
}

// getStatus answers with the room as it stands now, not as visitors were last
// told.
func (g *Gate) getStatus(w http.ResponseWriter, q *http.Request, r *room) {
	n, err := r.queue.CurrentNumbers(q.Context(), g.o.Clock())
	if err != nil {
		g.o.Log.Warn("status is old", zap.String("room", r.queue.Name()), zap.Error(err))
		n = r.queue.Numbers()
	}
	s := statusJSON{
		Status:               "not_queueing",
		EstimatedQueuedUsers: n.Waiting, EstimatedTotalActiveUsers: n.Active, ActiveUsers: n.Active, OpenSlots: n.Open,
		Buckets: make([]bucketJSON, len(n.Buckets)),
	}
	switch {
	case r.queue.Suspended():
		s.Status = "suspended"
	case n.Queueing():
		s.Status = "queueing"
		s.MaxEstimatedTimeMinutes = n.LongestWait().Minutes
	}
	for i, b := range n.Buckets {
		s.Buckets[i].Key = b.Bucket.Time().Format(http.TimeFormat)
		s.Buckets[i].Data.Waiting = b.Waiting
		s.Buckets[i].Data.ReservedSlots = b.ReservedSlots
	}
	reply(w, s)
}

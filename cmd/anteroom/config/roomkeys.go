package config

import (
	"math"
	"slices"
	"time"
)

// maxStay is the longest that a ticket can be valid, in a session or in line: the Max-Age of its cookie.
const maxStay = 24 * time.Hour

// roomDraft is a Room with what is still to be put together.
type roomDraft struct {
	Room
	routes, rules               []value
	secretsFile, publicKeysFile string // of tokens
}

// roomKeys is the table of a room.
func roomKeys() []key[roomDraft] {
	return slices.Concat(routeKeysOfRoom(), queueKeys(), answerKeys(), subjectKeys())
}

func routeKeysOfRoom() []key[roomDraft] {
	return []key[roomDraft]{
		{name: "name", kind: "string", outside: flagAndEnv, usage: `name of the room (default "default" without a file)`,
			read: aString(func(r *roomDraft) *string { return &r.Name }, "a name", checkName)},
		{name: "host", kind: "string", outside: flagAndEnv, usage: "host that the room guards (default: every host)",
			read: aString(func(r *roomDraft) *string { return &r.Host }, "a host", checkHost)},
		{name: "path", kind: "string", def: "/", outside: flagAndEnv, usage: "path that the room guards, with all below it; /room/{id} is a room for each id",
			read: aString(func(r *roomDraft) *string { return &r.Path }, "a path", checkPath)},
		{name: "additional_routes", kind: "mappings", usage: "more hosts and paths of the same room",
			read: func(d *decoder, v value, r *roomDraft) (ok bool) {
				r.routes, ok = d.items(v, "mappings with host and path")
				return ok
			}},
		{name: "max_rooms", kind: "int", def: "100", outside: flagAndEnv, usage: "rooms at a time where the path has a segment in braces",
			read: anInt(func(r *roomDraft) *int { return &r.MaxRooms }, 1, 10_000)},
		{name: "room_idle", kind: "duration", def: "10m", outside: flagAndEnv, usage: "time that an empty one of those is kept",
			read: aDuration(func(r *roomDraft) *time.Duration { return &r.RoomIdle }, time.Second, maxStay)},
		{name: "origin", kind: "url", usage: "origin of the room",
			read: anOrigin(func(r *roomDraft) *string { return &r.Origin })},
	}
}

func queueKeys() []key[roomDraft] {
	methods, pacings := []string{"fifo", "random", "line", "passthrough", "reject"}, []string{"auto", "minute", "even", "random"}
	occupancies := []string{"session", "connection"}
	return []key[roomDraft]{
		{name: "total_active_users", kind: "int", outside: flagAndEnv, usage: "visitors that may be active at once",
			read: anInt(func(r *roomDraft) *int { return &r.TotalActiveUsers }, 1, math.MaxInt32)},
		{name: "new_users_per_minute", kind: "int", outside: flagAndEnv, usage: "visitors that may be admitted in a minute",
			read: anInt(func(r *roomDraft) *int { return &r.NewUsersPerMinute }, 1, math.MaxInt32)},
		{name: "session_duration", kind: "duration", def: "5m", outside: flagAndEnv, usage: "time a visitor stays active after the last request",
			read: aDuration(func(r *roomDraft) *time.Duration { return &r.SessionDuration }, time.Second, maxStay)},
		{name: "disable_session_renewal", kind: "bool", def: "false", outside: flagAndEnv, usage: "end sessions session_duration after admission",
			read: aBool(func(r *roomDraft) *bool { return &r.DisableSessionRenewal })},
		{name: "queueing_method", kind: "string", def: "fifo", outside: flagAndEnv, usage: "who gets a free slot", choices: methods,
			read: oneOf(func(r *roomDraft) *string { return &r.Method }, methods...)},
		{name: "queue_all", kind: "bool", def: "false", outside: flagAndEnv, usage: "hold every new visitor",
			read: aBool(func(r *roomDraft) *bool { return &r.QueueAll })},
		{name: "suspended", kind: "bool", def: "false", outside: flagAndEnv, usage: "switch the room off",
			read: aBool(func(r *roomDraft) *bool { return &r.Suspended })},
		{name: "refresh_interval", kind: "duration", def: "20s", outside: flagAndEnv, usage: "time between two check-ins of who waits",
			read: aDuration(func(r *roomDraft) *time.Duration { return &r.RefreshInterval }, time.Second, maxStay)},
		{name: "refresh_jitter", kind: "number", def: "0.15", outside: flagAndEnv, usage: "fraction by which a check-in is moved at random",
			read: aFraction(func(r *roomDraft) *float64 { return &r.RefreshJitter }, 0, 0.5)},
		{name: "bucket", kind: "duration", def: "1m", outside: flagAndEnv, usage: "what arrival times are rounded down to",
			read: aDuration(func(r *roomDraft) *time.Duration { return &r.Bucket }, time.Second, maxStay)},
		{name: "pacing", kind: "string", def: "auto", outside: flagAndEnv, usage: "when a minute's allowance is released", choices: pacings,
			read: oneOf(func(r *roomDraft) *string { return &r.Pacing }, pacings...)},
		{name: "queue_ticket_ttl", kind: "duration", def: "5m", outside: flagAndEnv, usage: "time a place can be left and come back to",
			read: aDuration(func(r *roomDraft) *time.Duration { return &r.QueueTicketTTL }, time.Second, maxStay)},
		{name: "line_dropout", kind: "duration", outside: flagAndEnv,
			usage: "time without a check-in after which a place in an exact line is lost (default: three intervals, at least 60s)",
			read:  aDuration(func(r *roomDraft) *time.Duration { return &r.LineDropout }, time.Second, maxStay)},
		{name: "occupancy", kind: "string", def: "session", outside: flagAndEnv, usage: "what keeps a visitor in the room", choices: occupancies,
			read: oneOf(func(r *roomDraft) *string { return &r.Occupancy }, occupancies...)},
		{name: "line_grace", kind: "duration", def: "15s", outside: flagAndEnv,
			usage: "time that a seat is kept for whose connection has closed, with occupancy connection",
			read:  aDuration(func(r *roomDraft) *time.Duration { return &r.LineGrace }, 3*time.Second, maxStay)},
		{name: "on_store_error", kind: "string", def: "hold", outside: flagAndEnv, usage: "what becomes of new visitors without the store",
			choices: []string{"hold", "share", "open"},
			read:    oneOf(func(r *roomDraft) *string { return &r.OnStoreError }, "hold", "share", "open")},
	}
}

func answerKeys() []key[roomDraft] {
	sameSites, secures := []string{"auto", "lax", "none", "strict"}, []string{"auto", "always", "never"}
	return []key[roomDraft]{
		{name: "queueing_status_code", kind: "int", def: "200", outside: flagAndEnv, usage: "status of the answer to who waits",
			choices: []string{"200", "202", "429", "503"},
			read:    oneOfInts(func(r *roomDraft) *int { return &r.QueueingStatusCode }, 200, 202, 429, 503)},
		{name: "json_response_enabled", kind: "bool", def: "true", outside: flagAndEnv, usage: "answer in JSON who asks for it",
			read: aBool(func(r *roomDraft) *bool { return &r.JSONResponseEnabled })},
		{name: "template", kind: "file", outside: flagAndEnv, usage: "Mustache file of the page (default: the built-in page)",
			read: aPath(func(r *roomDraft) *string { return &r.Template }, "the path of a file")},
		{name: "default_template_language", kind: "string", def: "en-US", outside: flagAndEnv, usage: "language of the page where none is asked for",
			choices: languages(), read: oneOf(func(r *roomDraft) *string { return &r.DefaultTemplateLanguage }, languages()...)},
		{name: "cookie_suffix", kind: "string", outside: flagAndEnv, usage: "end of the cookie's name (default: the room's name)",
			read: aString(func(r *roomDraft) *string { return &r.CookieSuffix }, "a name", optional(checkName))},
		{name: "cookie_attributes.samesite", kind: "string", def: "auto", outside: flagAndEnv, usage: "SameSite of the cookie", choices: sameSites,
			read: oneOf(func(r *roomDraft) *string { return &r.CookieAttributes.SameSite }, sameSites...)},
		{name: "cookie_attributes.secure", kind: "string", def: "auto", outside: flagAndEnv, usage: "Secure of the cookie", choices: secures,
			read: oneOf(func(r *roomDraft) *string { return &r.CookieAttributes.Secure }, secures...)},
		{name: "cookie_attributes.domain", kind: "string", outside: flagAndEnv, usage: "Domain of the cookie (default: the host that was asked)",
			read: aString(func(r *roomDraft) *string { return &r.CookieAttributes.Domain }, "a domain", optional(checkDomain))},
		{name: "enabled_origin_commands", kind: "list", outside: flagAndEnv, usage: "commands that the origin may send",
			choices: []string{"revoke"}, read: readCommands},
		{name: "rules", kind: "mappings", usage: "requests that are exempt from the room",
			read: func(d *decoder, v value, r *roomDraft) (ok bool) {
				r.rules, ok = d.items(v, "rules")
				return ok
			}},
	}
}

func readCommands(d *decoder, v value, dst *roomDraft) bool {
	items, ok := d.items(v, "commands such as [revoke]")
	var commands []string
	read := oneOf(func(s *string) *string { return s }, "revoke")
	for _, item := range items {
		var command string
		switch {
		case !read(d, item, &command):
			ok = false
		case len(commands) > 0:
			ok = d.problem(item, "is there already")
		default:
			commands = append(commands, command)
		}
	}
	if ok {
		dst.EnabledOriginCommands = commands
	}
	return ok
}

// optional lets a check pass what is empty.
func optional(check func(string) string) func(string) string {
	return func(s string) string {
		if s == "" {
			return ""
		}
		return check(s)
	}
}

// languages are those that the built-in page speaks.
func languages() []string {
	return []string{
		"en-US", "es-ES", "de-DE", "fr-FR", "it-IT", "ja-JP", "ko-KR", "pt-BR", "zh-CN", "zh-TW", "nl-NL", "pl-PL", "id-ID",
		"tr-TR", "ar-EG", "ru-RU", "fa-IR", "bg-BG", "hr-HR", "cs-CZ", "da-DK", "fi-FI", "lt-LT", "ms-MY", "nb-NO", "ro-RO",
		"el-GR", "he-IL", "hi-IN", "hu-HU", "sr-BA", "sk-SK", "sl-SI", "sv-SE", "tl-PH", "th-TH", "uk-UA", "vi-VN",
	}
}

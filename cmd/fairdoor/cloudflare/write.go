package cloudflare

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Name is the file of the configuration.
const Name = "fairdoor.yaml"

// Files are the configuration, under Name, and the pages that it names, for a site at an origin.
func (i *Import) Files(origin string) (map[string]string, error) {
	if len(i.rooms) == 0 {
		return nil, errors.New("there is no room in what was imported")
	}
	w := &writer{files: map[string]string{}}
	w.comment(0, "Made of a configuration of Cloudflare Waiting Room. Comments say what is not the same here.")
	w.comment(0, "Paths cover whole segments: /shop is not /shopping. Their letter case counts for nothing, but for rules.")
	w.comment(0, "A query that contains name=value is one that has this parameter, as a whole.")
	w.set(0, "origin", origin)
	w.line(0, "rooms:")
	for _, r := range i.rooms {
		w.room(r, i.crawlers)
	}
	w.files[Name] = w.String()
	return w.files, nil
}

// writer writes a configuration, and gathers the pages beside it.
type writer struct {
	strings.Builder
	files map[string]string
}

func (w *writer) line(indent int, text string) {
	w.WriteString(strings.Repeat(" ", indent) + text + "\n")
}

// comment writes a comment in one line.
func (w *writer) comment(indent int, text string) {
	w.line(indent, "# "+strings.Join(strings.Fields(text), " "))
}

// set writes a key with its value. Lists are written as JSON has them, which is YAML, too.
func (w *writer) set(indent int, key string, value any) {
	w.line(indent, key+": "+quoted(value))
}

// quoted is a value as a YAML file of ours has it, where a dollar sign is written twice.
func quoted(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // texts, numbers, switches and lists of them can always be encoded
	return strings.ReplaceAll(strings.TrimSpace(text.String()), "$", "$$")
}

func (w *writer) room(r *room, crawlers bool) {
	if r.Description != "" {
		w.comment(2, r.Description)
	}
	w.set(2, "- name", r.Name)
	w.set(4, "host", r.Host)
	w.set(4, "path", cmp.Or(r.Path, "/"))
	if len(r.AdditionalRoutes) > 0 {
		w.line(4, "additional_routes:")
		for _, route := range r.AdditionalRoutes {
			w.line(6, fmt.Sprintf("- {host: %s, path: %s}", quoted(route.Host), quoted(cmp.Or(route.Path, "/"))))
		}
	}
	w.overridable(4, &r.overridable, r.Name)
	for _, s := range []struct {
		key string
		on  bool
	}{{"queue_all", r.QueueAll}, {"suspended", r.Suspended}} {
		if s.on {
			w.set(4, s.key, true)
		}
	}
	w.set(4, "json_response_enabled", r.JSON)
	if r.StatusCode != 0 {
		w.set(4, "queueing_status_code", r.StatusCode)
	}
	if r.Language != "" {
		w.set(4, "default_template_language", r.Language)
	}
	w.cookie(r)
	if len(r.OriginCommands) > 0 {
		w.set(4, "enabled_origin_commands", r.OriginCommands)
	}
	w.rules(r.rules, crawlers)
	w.events(r)
}

func (w *writer) cookie(r *room) {
	if r.CookieSuffix != "" {
		w.comment(4, "The cookie is called fairdoor_"+r.CookieSuffix+".")
		w.set(4, "cookie_suffix", r.CookieSuffix)
	}
	if a := r.CookieAttributes; a.SameSite != "" || a.Secure != "" {
		w.line(4, fmt.Sprintf("cookie_attributes: {samesite: %s, secure: %s}", quoted(cmp.Or(a.SameSite, "auto")), quoted(cmp.Or(a.Secure, "auto"))))
	}
}

// overridable writes what a room or an event says. A page becomes a file with that name.
func (w *writer) overridable(indent int, o *overridable, page string) {
	setIf(w, indent, "total_active_users", o.TotalActiveUsers)
	setIf(w, indent, "new_users_per_minute", o.NewUsersPerMinute)
	if o.SessionDuration != nil {
		w.set(indent, "session_duration", fmt.Sprintf("%dm", *o.SessionDuration))
	}
	setIf(w, indent, "disable_session_renewal", o.DisableSessionRenewal)
	setIf(w, indent, "queueing_method", o.QueueingMethod)
	if o.Page != nil && *o.Page != "" {
		w.files[page+".html"] = *o.Page
		w.set(indent, "template", page+".html")
	}
	w.turnstile(indent, o)
}

// turnstile tells of the challenge. It needs keys, which no answer of the API has.
func (w *writer) turnstile(indent int, o *overridable) {
	if o.TurnstileMode == nil || *o.TurnstileMode == "off" {
		return
	}
	w.comment(indent, "turnstile_mode is "+*o.TurnstileMode+" at Cloudflare. Here a room's challenge asks before there is a place in line, and those who do not pass get none.")
	w.comment(indent, "With keys of your own: challenge: {provider: turnstile, site_key: …, secret: …}")
}

// setIf writes a key that has a value.
func setIf[T any](w *writer, indent int, key string, value *T) {
	if value != nil {
		w.set(indent, key, *value)
	}
}

func (w *writer) rules(rules []rule, bypass bool) {
	lines := &writer{}
	count := 0
	add := func(description string, matches []match) {
		count++
		lines.line(6, fmt.Sprintf("- {action: bypass_waiting_room, description: %s, match: %s}", quoted(description), conditions(matches)))
	}
	for _, r := range rules {
		matches, err := matchesOf(r.Expression)
		if r.Enabled != nil && !*r.Enabled {
			err = errors.New("it is off at Cloudflare")
		}
		if err != nil {
			lines.comment(6, fmt.Sprintf("Left out, as %v: %s (%s)", err, r.Expression, r.Description))
			continue
		}
		add(r.Description, matches)
	}
	if bypass {
		add("search_engine_crawler_bypass", crawlers)
	}
	if count > 0 {
		w.line(4, "rules:")
	}
	w.WriteString(lines.String())
}

// conditions are matches, of which one has to hold, as the file has them.
func conditions(matches []match) string {
	if len(matches) == 1 {
		return matches[0].String()
	}
	parts := make([]string, len(matches))
	for i, m := range matches {
		parts[i] = m.String()
	}
	return "{any: [" + strings.Join(parts, ", ") + "]}"
}

// String is the match as the file has it. A key is there once: what else asks for it stands below
// all.
func (m match) String() string {
	var parts, all, not []string
	keys := map[string]bool{}
	for _, c := range m {
		switch {
		case c.negated:
			not = append(not, "{"+c.String()+"}")
		case keys[c.key]:
			all = append(all, "{"+c.String()+"}")
		default:
			keys[c.key] = true
			parts = append(parts, c.String())
		}
	}
	if len(all) > 0 {
		parts = append(parts, "all: ["+strings.Join(all, ", ")+"]")
	}
	if len(not) > 0 {
		parts = append(parts, "not: ["+strings.Join(not, ", ")+"]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// String is the condition as the file has it.
func (c condition) String() string {
	switch c.key {
	case "cidr":
		return c.key + ": " + quoted(c.values)
	case "verified_bot":
		return c.key + ": true"
	default:
		return c.key + ": " + quoted(c.values[0])
	}
}

func (w *writer) events(r *room) {
	if len(r.events) > 0 {
		w.line(4, "events:")
	}
	for i := range r.events {
		e := &r.events[i]
		w.set(6, "- name", e.Name)
		for _, s := range [][2]string{{"description", e.Description}, {"prequeue_start_time", e.Prequeue}, {"event_start_time", e.Start}, {"event_end_time", e.End}} {
			if s[1] != "" {
				w.set(8, s[0], s[1])
			}
		}
		w.set(8, "shuffle_at_event_start", e.Shuffle)
		w.set(8, "suspended", e.Suspended)
		w.overridable(8, &e.overridable, r.Name+"."+e.Name)
	}
}

package main_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/docs"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// cloudflareFields are what Cloudflare's API has for rooms, events, rules, zones and the status, as
// of 2026. Those of events that have the name of a room's are left out.
var cloudflareFields = strings.Fields(`
	name host path additional_routes cookie_suffix cookie_attributes.samesite cookie_attributes.secure total_active_users new_users_per_minute
	session_duration disable_session_renewal queue_all suspended queueing_method queueing_status_code json_response_enabled custom_page_html
	default_template_language enabled_origin_commands turnstile_mode turnstile_action description id created_on modified_on
	next_event_prequeue_start_time next_event_start_time
	event_start_time event_end_time prequeue_start_time shuffle_at_event_start
	action expression enabled version last_updated position
	search_engine_crawler_bypass
	status event_id estimated_queued_users estimated_total_active_users max_estimated_time_minutes`)

// movingIn are the pages, and their rows by their cells, with where they stand.
func movingIn(t *testing.T) (text string, rows [][]string) {
	t.Helper()
	text = inPage(t, "from-cloudflare") + inPage(t, "from-queueit")
	section := ""
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch {
		case strings.HasPrefix(line, "#"):
			section = strings.Trim(line, "# \n")
		case len(cells) == 3 && strings.HasPrefix(line, "|"):
			rows = append(rows, append([]string{section}, cells...))
		case strings.HasPrefix(line, "| "):
			require.Fail(t, "a row has three cells", line)
		}
	}
	return text, rows
}

// quoted are the words of a text in backquotes.
func quoted(text string) (words []string) {
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	return words
}

// settings are the settings of the file, each under its path and every end of it:
// rooms.rules.match.cidr is also match.cidr.
func settings(t *testing.T) map[string]bool {
	t.Helper()
	source, err := config.Schema()
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(source, &schema))
	names := map[string]bool{}
	addSettings(names, schema, "")
	return names
}

// addSettings adds the settings that a part of the schema describes, which is at a path.
func addSettings(names map[string]bool, schema map[string]any, path string) {
	for end, more := path, path != ""; more; _, end, more = strings.Cut(end, ".") {
		names[end] = true
	}
	inner, _ := schema["properties"].(map[string]any)
	for name, of := range inner {
		addSettings(names, of.(map[string]any), strings.TrimPrefix(path+"."+name, "."))
	}
	if items, ok := schema["items"].(map[string]any); ok {
		addSettings(names, items, path)
	}
	choices, _ := schema["anyOf"].([]any)
	for _, choice := range choices {
		addSettings(names, choice.(map[string]any), path)
	}
}

// setting is what a document means as a setting, with a value or without.
var setting = regexp.MustCompile(`^([a-z]+(?:[_.][a-z]+)*)(?:: .+)?$`)

// settingsIn are the settings that a text names, by the patterns of their words.
func settingsIn(text string) (names []string) {
	for _, word := range quoted(text) {
		if match := setting.FindStringSubmatch(word); match != nil && !strings.HasPrefix(word, "fairdoor") {
			names = append(names, match[1])
		}
	}
	return names
}

func TestSettingsThatMovingInNamesExist(t *testing.T) {
	text, rows := movingIn(t)
	known := settings(t)
	require.True(t, known["session_duration"] && known["rules.match.cidr"] && !known["sesion_duration"])
	named := map[string]bool{}
	for _, row := range rows {
		if row[0] == "API, JSON and sessions" || row[0] == "Pages" {
			continue
		}
		here := row[2]
		if here == "the same" {
			here = row[1]
		}
		for _, name := range settingsIn(here) {
			named[name] = true
			assert.True(t, known[name], "%s: %s: there is no setting %s", row[0], row[1], name)
		}
	}
	assert.Greater(t, len(named), 50)
	for _, name := range strings.Fields(`challenge passes bind_ticket sign_requests edge_admission origins host_header cache proxy_protocol tls.acme
		rules.match.query rules.match.all rules.match.any rules.match.not`) {
		assert.True(t, named[name], "no row leads to %s", name)
	}
	for _, name := range settingsIn(text) { // elsewhere in the text settings are the words with an underscore that are not Cloudflare's
		theirs := slices.Contains(cloudflareFields, name) || strings.HasPrefix(name, "cf.")
		assert.True(t, known[name] || theirs || !strings.Contains(name, "_"), "there is no setting %s", name)
	}
}

func TestTheTableOfMovingInHasEveryFieldOfCloudflares(t *testing.T) {
	_, rows := movingIn(t)
	theirs := map[string]bool{}
	pages := map[string]bool{}
	for _, row := range rows {
		for _, word := range quoted(row[1]) {
			theirs[word] = row[0] != "How do I move from Queue-it?" || theirs[word]
			pages[word] = row[0] == "Pages" || pages[word]
		}
	}
	for _, field := range cloudflareFields {
		assert.True(t, theirs[field], field)
	}
	maps.DeleteFunc(pages, func(_ string, of bool) bool { return !of })
	assert.ElementsMatch(t, templates.CloudflareVariables(), slices.Collect(maps.Keys(pages)))
}

// elsewhereNamed are words in the pages that are no options: of other programs, of a Redis' URL,
// and the columns of CSV.
var elsewhereNamed = strings.Fields(`proxy_cache proxy_next_upstream proxy_ignore_headers ip_hash worker_connections worker_rlimit_nofile auth_request
	forward_auth ext_authz hash_policy use_remote_address allowed_headers allowed_client_headers_on_success xff_num_trusted_hops upgrade_configs
	lb_policy health_port jwt_verify default_transaction_isolation ignore_startup_parameters lb_cookie vcl_recv port_value
	sentinel_user sentinel_password server_name
	arrival_minutes arrival_seconds wait_minutes wait_seconds let_in gave_up still_waiting
	referral_code confirmed_at invited_at invite_expires_at accepted_at`)

func TestOptionsThatThePagesNameExist(t *testing.T) {
	known := settings(t)
	words := string(gatetest.Start(t).Admin().Document) + config.Example()
	named := 0
	for _, page := range docs.Pages() {
		if page.Name == docs.Options || strings.HasPrefix(page.Name, "from-") {
			continue
		}
		for _, name := range settingsIn(fenced.ReplaceAllString(string(page.Markdown), "")) {
			if !strings.Contains(name, "_") {
				continue
			}
			named++
			end := name[strings.LastIndex(name, ".")+1:]
			assert.True(t, known[name] || slices.Contains(elsewhereNamed, end) || regexp.MustCompile(`\b`+end+`\b`).MatchString(words), "%s: there is no %s", page.Name, name)
		}
	}
	assert.Greater(t, named, 200)
}

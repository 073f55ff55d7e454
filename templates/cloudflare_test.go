package templates_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// fromCloudflare is a page as they are made for Cloudflare. The words and styles are ours;
// variables, sections and how scripts use them are those of the starter templates and examples in
// https://developers.cloudflare.com/waiting-room/how-to/customize-waiting-room/.
func fromCloudflare(t *testing.T, name string) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "cloudflare", name))
	require.NoError(t, err)
	return source
}

// spans are the ids of the texts that a page of several languages shows.
var spans = regexp.MustCompile(`<span id="(room\.[\w.]+)">`)

func TestPagesThatWereMadeForCloudflareRenderUnchangedInEveryState(t *testing.T) {
	languages, err := templates.Parse(fromCloudflare(t, "languages.html"))
	require.NoError(t, err)
	wait, err := templates.Parse(fromCloudflare(t, "wait-time.html"))
	require.NoError(t, err)
	shown := func(page *templates.Page, d templates.Data) string {
		rendered, err := page.Render(d)
		require.NoError(t, err)
		text := string(rendered.AppendTo(nil, by(seen, 20)))
		assert.NotContains(t, text, "{{")
		return text
	}
	for _, s := range templates.States() {
		t.Run(s.Name, func(t *testing.T) {
			var ids []string
			for _, match := range spans.FindAllStringSubmatch(shown(languages, s.Data), -1) {
				ids = append(ids, strings.TrimPrefix(match[1], "room."))
			}
			assert.Equal(t, textsOf(s.Data.Resolved()), ids)
			assert.Regexp(t, `var waitTime = \d+;\n      var waitTimeKnown = (true|false);`, shown(wait, s.Data))
		})
	}
}

// textsOf are the texts that a page of several languages is to show in a state, by the order of
// their ids.
func textsOf(d templates.Data) []string {
	last := map[bool]string{true: "reloads", false: "stays"}[d.Refreshes()]
	switch {
	case d.QueueingMethod == "reject":
		return []string{"closed.title", last, "asOf"}
	case d.Event.Prequeueing:
		return []string{"early.title", "early.why", last, "asOf"}
	case d.WaitTimeKnown:
		return []string{"title", "why", last, "asOf"}
	case d.QueueIsFull || d.SoldOut:
		return []string{"title", "wait.full", "why", last, "asOf"}
	default:
		return []string{"title", "wait.unknown", "why", last, "asOf"}
	}
}

func TestPagesHaveEveryVariableOfCloudflares(t *testing.T) {
	for _, name := range templates.CloudflareVariables() {
		assert.Contains(t, templates.Variables(), name)
	}
	assert.Len(t, templates.CloudflareVariables(), 29)
}

func TestVariablesOfCloudflaresThatHaveNoValueAreDoubted(t *testing.T) {
	const looks = " is not among the variables here; it looks like one of Cloudflare's, so it is empty"
	for source, want := range map[string]string{
		"{{waitTime}}":                          "",
		"a\n {{{turnstile}}}":                   `2:2: "turnstile" is Cloudflare's widget, and always empty here`,
		"{{#infiniteQueue}}x{{/infiniteQueue}}": `1:1: "infiniteQueue" is about Cloudflare's Turnstile, and always false here`,
		"{{timeUntilEventEndHours}}":            `1:1: "timeUntilEventEndHours"` + looks,
		"{{{waitTimeSeconds}}} {{#turnstileWidget}}x{{/turnstileWidget}}": `1:1: "waitTimeSeconds"` + looks + "\n" +
			`1:23: "turnstileWidget"` + looks,
	} {
		assert.Equal(t, want, templates.Doubts([]byte(source)).Error(), source)
		page, err := templates.Parse([]byte("." + source))
		require.NoError(t, err, source)
		rendered, err := page.Render(templates.Data{QueueingMethod: "reject"})
		require.NoError(t, err)
		assert.Regexp(t, `^\.[0a]?\s*$`, string(rendered.AppendTo(nil, by(seen, 20))), "what has no value is empty: %s", source)
	}
}

func TestNamesThatAreNotCloudflaresStayFaults(t *testing.T) {
	for source, want := range map[string]string{
		"{{waitTimeFormated}}": `1:1: unknown variable "waitTimeFormated"; did you mean "waitTimeFormatted"?`,
		"{{waitTimes}}":        `1:1: unknown variable "waitTimes"; did you mean "waitTime"?`,
		"{{usersAheadOfMe}}":   `1:1: unknown variable "usersAheadOfMe"; did you mean "usersAhead"?`,
		"{{price}}":            `1:1: unknown variable "price"`,
	} {
		_, err := templates.Parse([]byte(source))
		assert.EqualError(t, err, want)
		assert.Empty(t, templates.Doubts([]byte(source)))
	}
	_, err := templates.ParseMustache([]byte("{{link}} {{waitTimeSeconds}}"), []string{"link"}, true)
	assert.EqualError(t, err, `1:10: unknown variable "waitTimeSeconds"; there are link`, "mails are none of Cloudflare's")
}

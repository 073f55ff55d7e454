package templates_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestACustomPageIsShownInEveryLanguage(t *testing.T) {
	page, err := templates.Parse([]byte("{{roomName}}: {{waitTimeFormatted}}"))
	require.NoError(t, err)
	set := newSet(t, templates.Options{Custom: page})
	assert.True(t, set.Custom())
	assert.Empty(t, set.ContentSecurityPolicy())
	for _, code := range codes(t) {
		assert.Equal(t, "shop: 12 minutes", string(set.Page(code, state(t, "fifo")).AppendTo(nil, by(seen, 20))))
	}
}

func TestACustomPageThatFailsGivesWayToTheBuiltInOne(t *testing.T) {
	broken, err := templates.Broken()
	require.NoError(t, err)
	set := newSet(t, templates.Options{Custom: broken})
	text := string(set.Page("de-DE", state(t, "fifo")).AppendTo(nil, by(seen, 20)))
	assert.Equal(t, pageOf(t, "de-DE", "fifo"), text)
}

func TestAnUnknownLanguageIsShownAsTheDefault(t *testing.T) {
	set := newSet(t, templates.Options{DefaultLanguage: "nl-NL"})
	assert.False(t, set.Custom())
	text := string(set.Page("xx", state(t, "fifo")).AppendTo(nil, by(seen, 20)))
	assert.Equal(t, pageOf(t, "nl-NL", "fifo"), text)
}

func TestStatesHaveNamesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, s := range templates.States() {
		assert.False(t, names[s.Name], s.Name)
		names[s.Name] = true
		assert.Equal(t, s.Data, s.Data.Resolved(), "%s contradicts itself", s.Name)
	}
}

func Example() {
	page, err := templates.Parse([]byte("{{usersAhead}} ahead, next check {{refreshIntervalSeconds}} s after {{lastUpdatedTime}}\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	// Once for everyone in the same state …
	rendered, err := page.Render(templates.Data{UsersAheadKnown: true, UsersAhead: 12})
	if err != nil {
		fmt.Println(err)
		return
	}
	// … and for each visitor only this.
	at := time.Date(2026, time.May, 27, 15, 54, 0, 0, time.UTC)
	fmt.Print(string(rendered.AppendTo(nil, templates.Visitor{LastUpdated: at, RefreshSeconds: 20})))
	fmt.Print(string(rendered.AppendTo(nil, templates.Visitor{LastUpdated: at.Add(3 * time.Second), RefreshSeconds: 22})))
	// Output:
	// 12 ahead, next check 20 s after 15:54:00 UTC
	// 12 ahead, next check 22 s after 15:54:03 UTC
}

func ExampleParse() {
	_, err := templates.Parse([]byte(strings.Join([]string{
		"<h1>{{roomName}}</h1>",
		"<p>{{waitTimeFormated}}</p>",
		"{{> footer}}",
	}, "\n")))
	fmt.Println(err)
	// Output:
	// 2:4: unknown variable "waitTimeFormated"; did you mean "waitTimeFormatted"?
	// 3:1: partials such as {{>footer}} are not supported: put their text into the template
}

package templates_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func pageOf(t testing.TB, code, stateName string) string {
	t.Helper()
	d := state(t, stateName)
	return string(newSet(t, templates.Options{Identity: d.Identity}).Page(code, d).AppendTo(nil, at(d.Place)))
}

// waiting are the states of the page for those who wait.
func waiting() []templates.State {
	return slices.DeleteFunc(templates.States(), func(s templates.State) bool { return s.Data.NotSent })
}

// everyPage hands over the page of every state in English and Arabic, and of one state in every
// language.
func everyPage(t *testing.T, each func(code string, s templates.State, set *templates.Set, page string)) {
	t.Helper()
	for i, s := range waiting() {
		set := newSet(t, templates.Options{Identity: s.Data.Identity})
		in := []string{"en-US", "ar-EG"}
		if i == 0 {
			in = codes(t)
		}
		for _, code := range in {
			each(code, s, set, string(set.Page(code, s.Data).AppendTo(nil, at(s.Data.Place))))
		}
	}
}

func TestTheBuiltInPageIsAsRecorded(t *testing.T) {
	for code, states := range map[string][]string{
		"en-US": {"fifo", "fifo, hours", "fifo, wait unknown", "random", "queue all", "reject", "line", "line, place unknown"},
		"de-DE": {"fifo, next in line"},
		"fr-FR": {"random, longer than told"},
		"ar-EG": {"fifo"},
		"ja-JP": {"fifo, full"},
	} {
		if code == "en-US" {
			states = append(states, "fifo, rejoined", "fifo, identity", "not sent", "not sent, reject")
		}
		for _, name := range states {
			t.Run(code+" "+name, func(t *testing.T) {
				golden(t, fileName(name)+"."+code+".html", []byte(pageOf(t, code, name)))
			})
		}
	}
}

func TestTheBuiltInPageTellsEachStateInItsWords(t *testing.T) {
	cases := map[string][]string{
		"fifo":                     {"You are in the waiting room", "about 12\u00a0min", `<dd id="ahead">214</dd>`, `<dd id="position">about 215 of 254</dd>`},
		"fifo, first seconds":      {"We cannot estimate your wait right now.", `<div id="line" hidden>`},
		"fifo, next in line":       {"less than a minute"},
		"fifo, one minute":         {"less than a minute"},
		"fifo, hours":              {"about 1\u00a0h 35\u00a0min"},
		"fifo, whole hours":        {"about 2\u00a0h</p>"},
		"fifo, longer than told":   {"more than 4 hours"},
		"fifo, full":               {"The line is full at the moment."},
		"random":                   {"5 to 15\u00a0min", `<div id="line" hidden>`, `<div id="place" hidden>`},
		"random, one figure":       {"less than a minute"},
		"random, longer than told": {"more than 4 hours"},
		"queue all":                {"Admissions are paused at the moment.", `<p id="keeps">You keep your place.</p>`},
		"paused":                   {"The site is not answering", `<p id="keeps">You keep your place.</p>`, `<dd id="position">about 215 of 254</dd>`},
		"queue all, reject":        {"Admissions are paused at the moment.", "You are in the waiting room"},
		"line":                     {"Your place in line", `<dd id="position">7th of 412</dd>`, `<dd id="ahead">6</dd>`, "about 2\u00a0min"},
		"line, next":               {`<dd id="position">1st of 412</dd>`, `<dd id="ahead">0</dd>`},
		"line, hours":              {`<dd id="position">380th of 412</dd>`, "about 1\u00a0h 35\u00a0min"},
		"line, wait unknown":       {`<dd id="position">7th of 412</dd>`, "We cannot estimate your wait right now."},
		"line, place unknown":      {`<div id="place" hidden>`, `<div id="line" hidden>`},
		"queue all, line":          {`<dd id="position">7th of 412</dd>`, "Admissions are paused at the moment."},
		"prequeue":                 {"Time until the start", "about 8\u00a0min", `<dd id="position">about 215 of 254</dd>`},
		"prequeue, soon":           {"Time until the start", "less than a minute"},
		"prequeue, hours":          {"about 5\u00a0h</p>"},
		"prequeue, shuffle":        {"about 8\u00a0min", "The order is drawn at the start.", `<div id="place" hidden>`, `<div id="line" hidden>`},
		"prequeue, reject":         {"about 8\u00a0min", "You are in the waiting room"},
		"prequeue, queue all":      {"Admissions are paused at the moment."},
		"event":                    {"about 12\u00a0min", `<dd id="position">about 215 of 254</dd>`},
		"reject":                   {"Nobody can come in right now", "Please come back later.", `<p id="stay" hidden>`},
	}
	attributes := regexp.MustCompile(`data-[a-z-]+="[^"]*"`)
	for name, words := range cases {
		t.Run(name, func(t *testing.T) {
			visible := attributes.ReplaceAllString(pageOf(t, "en-US", name), "")
			for _, w := range words {
				assert.Contains(t, visible, w)
			}
			assert.Equal(t, 1, strings.Count(visible, `<p id="wait"`), "one sentence about the wait")
		})
	}
}

func TestTheLabelOfTheEstimateIsShownOnlyWithOne(t *testing.T) {
	for _, s := range waiting() {
		known := s.Data.Resolved().WaitTimeKnown && !s.Data.QueueIsFull
		page := pageOf(t, "en-US", s.Name)
		assert.Equal(t, known, strings.Contains(page, `<p id="label">`), s.Name)
		assert.NotContains(t, page, "hidden hidden", s.Name)
	}
}

func TestTheBuiltInPageIsSelfContained(t *testing.T) {
	sources := regexp.MustCompile(`(?i)(?:\bsrc|\bhref|\burl\(|@import)\s*[=(]?\s*["']?([^"'\s>]*)`)
	itself := regexp.MustCompile(`^($|data:|/\.fairdoor/(move|why)\?)`)
	for _, code := range codes(t) {
		for _, match := range sources.FindAllStringSubmatch(pageOf(t, code, "fifo"), -1) {
			assert.True(t, itself.MatchString(match[1]), match[0])
		}
	}
}

func TestTheAddressOfTheIconIsOne(t *testing.T) {
	icon := regexp.MustCompile(`<link rel="?icon"? href="(data:[^"]*)"`)
	for _, code := range codes(t) {
		match := icon.FindStringSubmatch(pageOf(t, code, "fifo"))
		assert.Len(t, match, 2, code)
		assert.NotRegexp(t, `[\s<>#]`, match[1], code)
	}
}

func TestTheBuiltInPageIsBuiltForEveryone(t *testing.T) {
	everyPage(t, func(code string, s templates.State, _ *templates.Set, page string) {
		direction := "ltr"
		if code == "ar-EG" || code == "fa-IR" || code == "he-IL" {
			direction = "rtl"
		}
		assert.Contains(t, page, fmt.Sprintf(`<html lang=%q dir=%q>`, code, direction))
		assert.NotContains(t, page, "noindex", "the address is the site's own")
		assert.Contains(t, page, `<meta name="viewport" content="width=device-width, initial-scale=1">`)
		assert.NotContains(t, page, "[[", "every string is filled in")
		assert.NotContains(t, page, "{{", "every variable is filled in")
		want := 2 // it is the turn, and tell me of it
		if s.Data.Refreshes() {
			want += 2 // to pause, and to leave
		}
		for tag, n := range map[string]int{"<title>": 1, "<main": 1, "<h1": 1, `role="status"`: 4, "<button": want} {
			assert.Equal(t, n, strings.Count(page, tag), "%s %s %s", code, s.Name, tag)
		}
	})
}

func TestOnlyWithoutScriptDoesThePageReloadItself(t *testing.T) {
	noscript := regexp.MustCompile(`(?s)<noscript>.*?</noscript>`)
	for _, s := range waiting() {
		page := pageOf(t, "en-US", s.Name)
		assert.NotContains(t, noscript.ReplaceAllString(page, ""), `http-equiv="refresh"`, s.Name)
		refreshes := strings.Contains(page, `<noscript><meta http-equiv="refresh" content="20; url=/"></noscript>`)
		assert.Equal(t, s.Data.Refreshes(), refreshes, s.Name)
	}
}

func TestThePolicyAllowsWhatThePageCarriesAndNothingElse(t *testing.T) {
	policy := newSet(t, templates.Options{}).ContentSecurityPolicy()
	styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	carried := func(page, element string) string {
		match := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindStringSubmatch(page)
		require.NotNil(t, match)
		sum := sha256.Sum256([]byte(match[1]))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	everyPage(t, func(_ string, _ templates.State, set *templates.Set, page string) {
		policy := set.ContentSecurityPolicy()
		_, allowed, _ := strings.Cut(policy, "script-src ")
		allowed, _, _ = strings.Cut(allowed, ";")
		assert.Contains(t, strings.Fields(allowed), carried(page, "script"))
		assert.Len(t, strings.Fields(allowed), 2, "before an event, and otherwise")
		for _, style := range styles.FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(style[1]))
			assert.Contains(t, policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		assert.NotRegexp(t, `(?i)<[^>]* (style|on\w+)=`, page, "the policy forbids it")
	})
	assert.Regexp(t, `^default-src 'none'; `, policy)
	for _, rule := range []string{"connect-src 'self'", "worker-src blob:", "base-uri 'none'", "form-action 'self'"} {
		assert.Contains(t, policy, rule)
	}
	assert.NotContains(t, policy, "frame-ancestors", "rooms are embedded")
}

// luminance is the relative luminance of a colour such as #faf8f4 by WCAG 2.2.
func luminance(t require.TestingT, colour string) float64 {
	require.Regexp(t, `^#([0-9a-f]{3}|[0-9a-f]{6})$`, colour)
	digits := colour[1:]
	if len(digits) == 3 {
		digits = strings.Repeat(digits[:1], 2) + strings.Repeat(digits[1:2], 2) + strings.Repeat(digits[2:], 2)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		channel, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		require.NoError(t, err)
		c := float64(channel) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}

func contrast(t require.TestingT, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestColoursHaveTheContrastThatReadersNeed(t *testing.T) {
	blocks := regexp.MustCompile(`:root\{([^}]*)\}`).FindAllStringSubmatch(templates.Style(), -1)
	require.Len(t, blocks, 3, "light, dark and print")
	colours := map[string]string{}
	for i, scheme := range []string{"light", "dark", "print"} {
		for _, match := range regexp.MustCompile(`--(\w+):(#\w+)`).FindAllStringSubmatch(blocks[i][1], -1) {
			colours[match[1]] = match[2]
		}
		for text, least := range map[string]float64{"ink": 7, "soft": 4.5} {
			assert.GreaterOrEqual(t, contrast(t, colours[text], colours["paper"]), least, "%s: %s", scheme, text)
		}
		if scheme == "print" {
			continue
		}
		for mark, least := range map[string]float64{"edge": 3, "focus": 3} {
			assert.GreaterOrEqual(t, contrast(t, colours[mark], colours["paper"]), least, "%s: %s", scheme, mark)
		}
	}
}

func TestTheScriptOnlyUsesStringsThatThePageGivesIt(t *testing.T) {
	calls := newSet(t, templates.Options{CallBack: "key"}).Page("en-US", state(t, "fifo")).AppendTo(nil, at(templates.Place{}))
	script, page := templates.SqueezeScript(string(source(t, "page/page.js"))), pageOf(t, "en-US", "paused")+pageOf(t, "en-US", "prequeue")+string(calls)
	kebab := regexp.MustCompile(`[A-Z]`)
	used := regexp.MustCompile(`\bsay\.(\w+)`).FindAllStringSubmatch(script, -1)
	used = append(used, regexp.MustCompile(`[?:]'(\w+)':[!w]`).FindAllStringSubmatch(script, -1)...)
	require.Greater(t, len(used), 12)
	for _, match := range used {
		name := kebab.ReplaceAllStringFunc(match[1], func(s string) string { return "-" + strings.ToLower(s) })
		assert.Contains(t, page, "data-"+name+`="`)
	}
}

func TestTheBuiltInPagesCanBeRenderedInEveryStateAndLanguage(t *testing.T) {
	pages, notSent, err := templates.BuiltInPages()
	require.NoError(t, err)
	for _, code := range codes(t) {
		for _, s := range templates.States() {
			for _, page := range []*templates.Page{pages[code], notSent[code]} {
				_, err := page.Render(s.Data)
				assert.NoError(t, err, "%s, %s", code, s.Name)
			}
		}
	}
}

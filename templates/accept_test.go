package templates_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestJSONIsForThoseWhoAskForIt(t *testing.T) {
	cases := []struct {
		name, accept string
		want         bool
	}{
		{"exactly JSON", "application/json", true},
		{"in any letter case", "Application/JSON", true},
		{"with a parameter", "application/json; charset=utf-8", true},
		{"with a small quality of its own", "application/json;q=0.1", true},
		{"JSON before HTML", "application/json, text/html", true},
		{"HTML before JSON", "text/html, application/json", false},
		{"HTML first and of less quality", "text/html;q=0.8, application/json;q=0.9", true},
		{"JSON first and of less quality", "application/json;q=0.8, text/html", false},
		{"as axios asks", "application/json, text/plain, */*", true},
		{"as old scripts ask", "application/json, text/javascript, */*; q=0.01", true},
		{"as a browser asks", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
		{"as Java asks", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", false},
		{"JSON, and everything rather", "application/json;q=0.5, */*", false},
		{"JSON, and any text rather", "application/json;q=0.5, text/*;q=0.6, */*;q=0.1", false},
		{"JSON rather than any text", "application/json;q=0.5, text/*;q=0.4, */*", true},
		{"no header", "", false},
		{"everything", "*/*", false},
		{"any application", "application/*", false},
		{"other JSON", "application/problem+json, application/ld+json", true},
		{"JSON of an API", "application/vnd.shop.v1+json", true},
		{"JSON of an API, and everything less", "application/vnd.api+json, */*;q=0.8", true},
		{"JSON of an API in any letter case", "Application/Vnd.API+JSON;version=2", true},
		{"other JSON and HTML before", "text/html, application/ld+json", false},
		{"other JSON refused", "application/ld+json;q=0", false},
		{"a type of an API", "application/vnd.shop.v1", true},
		{"a type of an API, and HTML", "application/vnd.shop.v1, text/html;q=0.1", false},
		{"a type of an API, and everything", "application/vnd.ms-excel, image/gif, */*", false},
		{"a type of an API refused", "application/vnd.shop.v1;q=0", false},
		{"XML", "application/xml", true},
		{"events", "text/event-stream", true},
		{"plain text", "text/plain", false},
		{"a picture", "image/png", false},
		{"HTML as XML", "application/xhtml+xml, application/json", false},
		{"half a suffix", "application/x+jso, */*", false},
		{"JSON refused", "application/json;q=0", false},
		{"JSON refused at length", "application/json;q=0.000, */*", false},
		{"HTML refused", "text/html;q=0, application/json;q=0.1", true},
		{"JSON named twice", "application/json;q=0, text/html;q=0.5, application/json;q=0.6", true},
		{"a quality that is none", "application/json;q=high", false},
		{"a quality above one", "application/json;q=1.5, */*", false},
		{"a quality below zero", "application/json;q=-1", false},
		{"an empty quality", "application/json;q=", false},
		{"a quality of a point", "application/json;q=.", false},
		{"a Q and blanks", "text/html ; q = 0.3 , application/json\t;\tQ = 0.4", true},
		{"the quality after other parameters", "application/json;v=1;q=0.2, text/html;q=0.3", false},
		{"a comma in a quoted string", `text/html;x="a,application/json", application/json;q=0.9`, false},
		{"a quality in a quoted string", `application/json;x=";q=0"`, true},
		{"an escaped quote", `application/json;x="\";q=0", text/html;q=0.9`, true},
		{"a quote that never ends", `text/html;q=0.1;x=", application/json`, false},
		{"empty elements", ",, ,application/json,;", true},
		{"a half name", "application/jso, */*", false},
		{"a letter that folds to s", "application/jſon, */*", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, templates.WantsJSON(c.accept, false))
			assert.Equal(t, c.want, slowWantsJSON(c.accept, false), "the reference")
		})
	}
}

var (
	// A list element is made of quoted strings, which may never end, and
	// anything but a separator.
	elements   = regexp.MustCompile(`(?s)(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^",])*`)
	parameters = regexp.MustCompile(`(?s)(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^";])*`)
	number     = regexp.MustCompile(`^(?:0?\.[0-9]+|0\.?|1(?:\.0*)?)$`)
)

// pieces are the non-empty matches.
func pieces(pattern *regexp.Regexp, s string) []string {
	var found []string
	for _, match := range pattern.FindAllString(s, -1) {
		if match != "" {
			found = append(found, match)
		}
	}
	return found
}

// slowWantsJSON decides as WantsJSON is documented to, without haste.
func slowWantsJSON(accept string, script bool) bool {
	quality, order := map[string]float64{}, map[string]int{}
	for position, element := range pieces(elements, accept) {
		media, q, ok := slowElement(element)
		if !ok {
			continue
		}
		media = slowKind(media)
		if _, named := quality[media]; !named {
			order[media] = position
		}
		quality[media] = max(quality[media], q)
	}
	json, jsonNamed := quality["any json"]
	html, htmlNamed := quality["any html"]
	switch {
	case html > 0:
		return json > html || json == html && order["any json"] < order["any html"]
	case script:
		return json > 0 || !jsonNamed
	case htmlNamed:
		return json > 0
	case json > 0:
		if text, named := quality["text/*"]; named {
			return json >= text
		}
		return json >= quality["*/*"]
	}
	return quality["any program"] > 0 && quality["text/*"] == 0 && quality["*/*"] == 0
}

// slowKind names what a media range is for, or else is the range itself.
func slowKind(media string) string {
	switch {
	case media == "*":
		return "*/*"
	case media == "text/html" || media == "application/xhtml+xml":
		return "any html"
	case regexp.MustCompile(`(?s)^application/(json|.*\+json)$`).MatchString(media):
		return "any json"
	case media != "application/*" && strings.HasPrefix(media, "application/") || media == "text/event-stream":
		return "any program"
	}
	return media
}

// slowElement reads one element of the list, if it names a media range and its
// quality can be read.
func slowElement(element string) (media string, q float64, ok bool) {
	parts := pieces(parameters, element)
	if len(parts) == 0 || strings.HasPrefix(element, ";") {
		return "", 0, false
	}
	media, q, ok = lower(strings.Trim(parts[0], " \t")), 1, true
	for _, parameter := range parts[1:] {
		name, value, found := strings.Cut(parameter, "=")
		if found && lower(strings.Trim(name, " \t")) == "q" {
			q, ok = slowQuality(strings.Trim(value, " \t"))
			break
		}
	}
	return media, q, ok
}

// slowQuality reads a quality; digits beyond the third do not count.
func slowQuality(value string) (q float64, ok bool) {
	if !number.MatchString(value) {
		return 0, false
	}
	if whole, fraction, _ := strings.Cut(value, "."); len(fraction) > 3 {
		value = whole + "." + fraction[:3]
	}
	q, _ = strconv.ParseFloat("0"+value, 64)
	return q, true
}

// lower folds the case of ASCII letters alone.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

func TestAskingForJSONAllocatesNothing(t *testing.T) {
	const accept = `text/html,application/xhtml+xml,application/json;v="1";q=0.9,*/*;q=0.8`
	assert.Zero(t, testing.AllocsPerRun(100, func() { templates.WantsJSON(accept, true) }))
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{
		"application/json", "text/html, application/json;q=0.5", "*/*;q=.2,*", `application/json;x="\`, `a"b,c";q=0`,
		"application/json;q=1.0001", "application/json;q=0.9999, text/html;q=0.999", "text/*, application/json;q=1",
		"application/ld+json;q=0.5, application/xhtml+xml;q=0.6", "application/*, text/event-stream", "text/html;q=0, application/x;q=0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		for _, script := range []bool{false, true} {
			require.Equal(t, slowWantsJSON(accept, script), templates.WantsJSON(accept, script), "script: %t", script)
		}
	})
}

func BenchmarkWantsJSON(b *testing.B) {
	for name, accept := range map[string]string{
		"a browser": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
		"a program": "application/json;q=0.9,text/html;q=0.8,application/xml;q=0.7,image/avif,image/webp,*/*;q=0.5",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				templates.WantsJSON(accept, false)
			}
		})
	}
}
